"""Linear baselines of the interpretable kernel methods: Lasso, ℓ1-SVM and SVM-RFE, all from scikit-learn.

Inputs are standardised, categories one-hot. Parameters are chosen by 5-fold cross-validation.
"""

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.compose import TransformedTargetRegressor, make_column_selector, make_column_transformer
from sklearn.feature_selection import RFECV
from sklearn.linear_model import LassoCV
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC, LinearSVR

STRENGTHS = (0.0001, 0.001, 0.01, 0.1, 1.0)
"""Values of C to choose among."""


def prepare() -> BaseEstimator:
    """One-hot categories beside the numbers, every column standardised."""
    return make_pipeline(
        make_column_transformer(
            (
                OneHotEncoder(drop="first", handle_unknown="ignore", sparse_output=False),
                make_column_selector(dtype_exclude=[np.number, bool]),
            ),
            remainder="passthrough",
            verbose_feature_names_out=False,
        ),
        StandardScaler(),
    )


def folds(regression: bool):
    return (KFold if regression else StratifiedKFold)(5, shuffle=True, random_state=0)


def sparse_linear(regression: bool) -> BaseEstimator:
    """Lasso, or the ℓ1-penalised support vector machine."""
    if regression:
        return make_pipeline(prepare(), LassoCV(cv=folds(True), max_iter=10_000))
    svm = LinearSVC(penalty="l1", dual=False, max_iter=500)
    return make_pipeline(prepare(), GridSearchCV(svm, {"C": STRENGTHS}, cv=folds(False)))


class Elimination(BaseEstimator):
    """SVM-RFE: C on all columns by cross-validation, then columns eliminated one after the other.

    Above 40 columns (spambase, bank) three at a time.
    """

    def __init__(self, regression: bool = True) -> None:
        self.regression = regression

    def fit(self, X, y):
        """Fit on standardised columns."""
        if self.regression:
            svm = LinearSVR(loss="squared_epsilon_insensitive", dual=False, max_iter=2000)
            score = "neg_mean_squared_error"
        else:
            svm, score = LinearSVC(dual=False, max_iter=2000), "accuracy"
        cv = folds(self.regression)
        best = GridSearchCV(svm, {"C": STRENGTHS}, cv=cv, scoring=score).fit(X, y).best_estimator_
        step = 1 if X.shape[1] <= 40 else 3
        self.search_ = RFECV(best, step=step, cv=cv, scoring=score).fit(X, y)
        return self

    def predict(self, X):
        """Predict from the columns that were kept."""
        return self.search_.predict(X)


def svm_rfe(regression: bool) -> BaseEstimator:
    """Recursive feature elimination with a linear support vector machine."""
    model = make_pipeline(prepare(), Elimination(regression))
    if not regression:
        return model
    return TransformedTargetRegressor(model, transformer=StandardScaler())  # C and epsilon have units of y
