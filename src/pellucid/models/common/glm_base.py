"""What all kernel models of :mod:`pellucid.models.glm.estimators` share."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from pellucid.data.parameters import check_alphas, check_count
from pellucid.data.rows import check_rows, check_square, is_precomputed
from pellucid.data.weights import check_weight
from pellucid.effects import Summary
from pellucid.effects.linear import LinearView
from pellucid.kernels import ALIASES, Kernel, as_kernel
from pellucid.linalg import row_blocks
from pellucid.losses import Loss
from pellucid.models.common.glm_fit import (
    EXACT_ROWS,
    Folds,
    choose_by_folds,
    choose_by_loo,
    default_alphas,
    kernel_features,
    mean_choice,
    side_by_side,
    solve,
)
from pellucid.models.common.length_scale import choose_length_scale
from pellucid.models.common.linear_reading import output_names, read_linear
from pellucid.models.common.ridge_fit import Settings
from pellucid.solvers import GLMProblem

_SURE = 14.0  # score beyond which a probability is within 1e-6 of 0 or 1


class KernelGLMBase(BaseEstimator):
    """Shared machinery: data in, features of the kernel, alpha, solution, predictions."""

    kernel: Any
    loss: Any
    alpha: Any
    alphas: Any
    cv: Any
    fit_intercept: bool
    n_components: int | None
    max_iter: int
    loss_: Loss

    # ------------------------------------------------------------ entry
    def _enter(self, X: Any, sample_weight: Any) -> tuple[np.ndarray, np.ndarray]:
        """Check parameters, rows and weights."""
        if not isinstance(self.fit_intercept, bool | np.bool_):
            raise ValueError(f"fit_intercept must be True or False, got {self.fit_intercept!r}.")
        if self.n_components is not None:
            check_count(self.n_components, "n_components", 1)
        check_count(self.max_iter, "max_iter", 1)
        rows = check_rows(self, X, self.kernel, reset=True)
        if is_precomputed(self.kernel):
            check_square(rows)
        return rows, check_weight(sample_weight, len(rows))

    def _keep(self, rows: np.ndarray, kept: np.ndarray) -> np.ndarray:
        """Rows of positive weight."""
        if kept.all():
            return rows
        return rows[np.ix_(kept, kept)] if is_precomputed(self.kernel) else rows[kept]

    def _resolve_kernel(self, rows: np.ndarray, problems: Sequence[GLMProblem]) -> Kernel:
        """The kernel with its parameters.

        A named one takes length-scales by leave-one-out of the first Newton step.
        """
        if isinstance(self.kernel, str) and self.kernel in ALIASES:
            target, weight = _first_step(problems)
            sample = np.arange(len(rows))
            if len(rows) > EXACT_ROWS:  # always the same rows for the same data
                sample = np.sort(np.random.default_rng(0).choice(sample, EXACT_ROWS // 2, replace=False))
            part = rows[sample] if len(sample) < len(rows) else rows
            alias, settings = ALIASES[self.kernel], Settings("loo")
            kernel, _ = choose_length_scale(alias, part, target[sample], weight[sample], settings, None)
            return kernel
        names = getattr(self, "feature_names_in_", None)
        return as_kernel(self.kernel, rows).bind(None if names is None else list(names))

    # ---------------------------------------------------------- fitting
    def _fit_problems(
        self, rows: np.ndarray, problems: Sequence[GLMProblem], folds: Folds, kept: np.ndarray
    ) -> None:
        """Fit one problem, or one per class, on rows of positive weight; all share one alpha."""
        self.kernel_ = self._resolve_kernel(rows, problems)
        features = kernel_features(self.kernel_, rows, self.n_components)
        alpha = self._choose_alpha(features.Z, problems, folds)
        fits = self._solve(features.Z, problems, alpha)
        self._kernel_features, self._kernel_fits = features, fits
        self.alpha_ = alpha
        self.n_iter_ = max(fit.n_iter for fit in fits)
        self.optimality_ = max(fit.optimality for fit in fits)
        self.kernel_accuracy_ = features.accuracy
        self._centres = features.landmarks
        self.X_fit_ = rows if features.landmarks is None else rows[features.landmarks]
        delta, self._intercept = side_by_side(fits)
        self._dual = features.dual(delta)
        self._kept = kept
        self.weight_fit_ = problems[0].weight
        self._scores_fit = features.Z @ delta + self._intercept

    def _solve(self, Z: np.ndarray, problems: Sequence[GLMProblem], alpha: float) -> list[Any]:
        """One fit per problem, with a warning if one did not converge."""
        fits = [solve(Z, p, alpha, max_iter=self.max_iter) for p in problems]
        if not all(fit.converged for fit in fits):
            worst = max(fit.optimality for fit in fits)
            warnings.warn(
                f"The fit did not converge: optimality is violated by {worst:.2g}. Raise alpha or max_iter, "
                f"or check for features of very different scale.",
                ConvergenceWarning,
                stacklevel=4,
            )
        return fits

    def _choose_alpha(self, Z: np.ndarray, problems: Sequence[GLMProblem], folds: Folds) -> float:
        self.__dict__.pop("alpha_path_", None)
        if not isinstance(self.alpha, str):
            values = check_alphas(self.alpha, "alpha")
            if values.size != 1:
                raise ValueError(
                    f"alpha is one number, 'cv' or 'loo', got {self.alpha!r}. Values to choose among go into "
                    f"alphas=."
                )
            return float(values[0])
        if self.alpha not in ("cv", "loo"):
            raise ValueError(f"alpha must be a positive number, 'cv' or 'loo', got {self.alpha!r}.")
        alphas = None if self.alphas is None else check_alphas(self.alphas)
        if alphas is None and len(problems) > 1:  # classes share one alpha, so they try the same ones
            alphas = default_alphas(Z, problems[0])
        if self.alpha == "loo":
            loss = problems[0].loss
            if loss.multiclass or not loss.smooth:
                raise ValueError(
                    f"Approximate leave-one-out is not available for the {loss.name} loss; use alpha='cv'."
                )
            choices = [choose_by_loo(Z, p, alphas) for p in problems]
        else:
            choices = [choose_by_folds(Z, p, alphas, folds) for p in problems]
        self.alpha_path_ = choices[0] if len(choices) == 1 else mean_choice(choices)
        return self.alpha_path_.best

    def _folds(self, y: np.ndarray, kept: np.ndarray) -> Folds:
        """Folds over the rows of positive weight, in their own numbering; none where alpha needs none.

        A splitter sees only these rows, as those of weight zero count as absent. Folds that were passed in
        number all rows.
        """
        if not (isinstance(self.alpha, str) and self.alpha == "cv"):
            return []
        splitter = check_cv(self.cv, y[kept], classifier=isinstance(self, ClassifierMixin))
        if isinstance(self.cv, int) or self.cv is None:  # rows often come sorted
            splitter.shuffle, splitter.random_state = True, 0
        if self.cv is None or isinstance(self.cv, int) or hasattr(self.cv, "split"):
            try:
                return list(splitter.split(np.zeros((int(kept.sum()), 1)), y[kept]))
            except ValueError as error:
                raise ValueError(f"{error} Pass fewer folds as cv, or alpha as a number.") from None
        position = np.cumsum(kept) - 1
        folds = [
            (position[train][kept[train]], position[test][kept[test]])
            for train, test in splitter.split(np.zeros((len(y), 1)), y)
        ]
        if not folds or any(len(train) == 0 for train, _ in folds):
            raise ValueError("cv must give at least one fold, each with training rows of positive weight.")
        return folds

    # -------------------------------------------------------- predicting
    def _check_new_rows(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return check_rows(self, X, self.kernel, reset=False)

    def _scores(self, rows: np.ndarray) -> np.ndarray:
        """Kernel scores of shape (m, q), without offset."""
        out = np.empty((len(rows), len(self._intercept)))
        for block in row_blocks(len(rows), 8.0 * 3 * len(self.X_fit_)):
            part = rows[block]
            if is_precomputed(self.kernel_):
                part = part[:, self._kept] if part.shape[1] == len(self._kept) else part
                part = part if self._centres is None else part[:, self._centres]
            # kernels may take Y is X for a Gram matrix, which has the noise of noisy kernels on its diagonal
            out[block] = self.kernel_._gram(part, self.X_fit_[:]) @ self._dual
        return out + self._intercept

    def linear_view(self, X: Any = None) -> LinearView:
        """Read the fitted function as a linear one: coefficients on the features, with a certificate.

        Parameters
        ----------
        X : array-like of shape (m, n_features), optional
            Rows on which to read it; by default the training rows, where the model keeps them all.

        Returns
        -------
        LinearView
            Its coefficients are those of the linear function nearest to the model's scores on these rows. The
            held-out fidelity in its certificate is that of the reading; the model is not fitted again.
        """
        check_is_fitted(self)
        if X is None and self._centres is not None:
            raise ValueError("This model keeps only its landmarks: pass the rows on which to read it.")
        rows = self.X_fit_ if X is None else self._check_new_rows(X)
        return read_linear(
            self.kernel_,
            rows,
            self.weight_fit_ if X is None else np.ones(len(rows)),
            self._scores(rows),
            fit_intercept=bool(self.fit_intercept),
            names=getattr(self, "feature_names_in_", None),
            outputs=output_names(self, len(self._intercept)),
        )

    def _facts(self) -> list[tuple[str, object]]:
        how = f"chosen by {self.alpha}" if isinstance(self.alpha, str) else "given"
        facts: list[tuple[str, object]] = [
            ("rows", len(self._kept)),
            ("loss", self.loss_.name),
            ("kernel", str(self.kernel_)),
            ("alpha", f"{self.alpha_:.4g} ({how})"),
        ]
        if self._centres is not None:
            share = f"keep {100 * self.kernel_accuracy_:.4g} % of the kernel"
            facts.append(("landmarks", f"{len(self._centres)} ({share})"))
        if isinstance(self.alpha, str):
            facts.append(("held-out mean deviance", float(np.min(self.alpha_path_.deviance))))
        facts.append(("iterations", self.n_iter_))
        if (
            self.loss_.linked
            and self.loss_.kind == "classification"
            and np.abs(self._scores_fit).max() > _SURE
        ):
            facts.append(("separation", "some fitted probabilities are within 1e-6 of 0 or 1"))
        return facts

    def summary(self) -> Summary:
        """What was fitted, on half a screen; print it."""
        check_is_fitted(self)
        return Summary(type(self).__name__, self._facts())

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_precomputed(self.kernel)
        tags.input_tags.sparse = False
        return tags


def _first_step(problems: Sequence[GLMProblem]) -> tuple[np.ndarray, np.ndarray]:
    """Working targets and weights of the first Newton step from the null model, one column per problem."""
    targets = []
    weight = problems[0].weight
    for p in problems:
        if p.loss.multiclass:
            targets += [np.where(p.y == c, 1.0, -1.0) for c in range(p.offset.shape[1])]
        elif not p.loss.smooth or p.loss.name == "squared_hinge":
            targets.append(2.0 * p.y - 1.0)
        else:
            b = p.loss.best_constant(p.y, p.weight, p.offset)
            eta = p.offset + b
            w = np.maximum(p.loss.curvature(p.y, eta), 1e-10)
            targets.append(-p.loss.gradient(p.y, eta) / w)
            weight = p.weight * w / w.max()  # no curvature may pass for a repeated row
    return np.column_stack(targets), weight
