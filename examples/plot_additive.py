"""
The additive kernel machine
===========================

Smooth functions of single features and of pairs, each of which finds its own smoothness. Nothing is tuned,
and the prediction is the sum of what is drawn.
"""

import numpy as np
import pandas as pd

from pellucid import AdditiveKernelRegressor, plot_contributions, plot_effects, plot_importance

# %%
# A table as tables are: a heavy tail, a category, missing values, and an interaction.
rng = np.random.default_rng(0)
n = 1500
X = pd.DataFrame(
    {
        "income": rng.lognormal(10, 0.7, n),
        "age": rng.integers(18, 90, n),
        "region": rng.choice(["north", "south", "west"], n),
        "distance": np.where(rng.random(n) < 0.1, np.nan, rng.exponential(5, n)),
    }
)
south = X["region"] == "south"
y = (
    2 * np.log(X["income"] / 20000)
    + np.where(south, np.sin(X["age"] / 8), 0)
    - 0.2 * X["distance"].fillna(12)
    + 0.5 * rng.normal(size=n)
)
model = AdditiveKernelRegressor().fit(X, y)
print(model.summary())

# %%
# The interaction of age and region is found; the missing distance has an effect of its own.
plot_importance(model)

# %%
plot_effects(model, 6)

# %%
# One row taken apart.
plot_contributions(model, X.iloc[[7]])

# %%
# Shaping: income may only raise the prediction, and the edit is kept in a log that travels with the model.
shaped = AdditiveKernelRegressor(monotone={"income": "increasing"}).fit(X, y)
edited = shaped.edit(X, y, smooth={"distance": 10})
for edit in edited.edits_:
    print(edit)
