"""
Shapley values without sampling
===============================

A kernel model is no sum of terms, but a product kernel lets each prediction be shared out among the features
exactly, and the variance of the whole model too.
"""

from sklearn.datasets import load_diabetes

from pellucid import KernelRidge, plot_contributions, plot_shapley, shapley_values, sobol_shares

# %%
# How far each feature moves the predictions of the last 100 patients, compared with the others.
X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
model = KernelRidge().fit(X[:342], y[:342])
found = shapley_values(model, X[342:], background=X[:342])
plot_shapley(found)

# %%
# One feature along its values. Dots above each other are patients with the same body mass index who differ
# elsewhere: were there no interactions, they would lie on one curve.
plot_shapley(found, "bmi")

# %%
# One patient, from the mean prediction to their own.
plot_contributions(found.explanation(0))

# %%
# How much of the model's variance each feature makes, alone and together with others.
sobol_shares(model)
