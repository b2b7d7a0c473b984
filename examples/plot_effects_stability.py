"""
Which coefficients keep their sign?
===================================

Coefficients change when other rows are used to fit them. Over many random splits of the data one sees which
of them can be relied on, and which method predicts the rows left out.
"""

from sklearn.datasets import load_diabetes
from sklearn.linear_model import LassoCV

from pellucid import InterpretableKernelRegressor, KernelRidge, plot_coefficients, plot_stability, stability

# %%
# The coefficients of one fit with 95 % intervals. All features are in units of their standard deviation.
X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
X = (X - X.mean()) / X.std()
model = InterpretableKernelRegressor(alpha="loo", certify=0)
fitted = model.fit(X, y)
plot_coefficients(fitted, se=fitted.coefficient_frame()["standard_error"])

# %%
# The same over twenty splits. Blue boxes are on one side of zero in all of them.
methods = {
    "kernel, as coefficients": model,
    "kernel ridge": KernelRidge(),
    "lasso": LassoCV(),
}
result = stability(methods, X, y, n_splits=20, random_state=0)
plot_stability(result, "kernel, as coefficients")

# %%
# Errors on the rows left out, with the mean rank of each method.
plot_stability(result, kind="errors")
