"""
Effects of terms, and one prediction taken apart
================================================

A model that is a sum of functions of one or two features can be drawn: each function by itself, how much each
matters, and how they add up for one row.
"""

import numpy as np
from sklearn.datasets import load_diabetes

from pellucid import ISKRegressor, plot_contributions, plot_effect, plot_effects, plot_importance

# %%
# Ten features of 442 patients, in their own units, one of them a category.
X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
X = X.rename(columns={"bmi": "body mass index", "bp": "blood pressure", "s5": "log triglycerides"})
X["sex"] = np.where(X["sex"] > 1.5, "male", "female")
model = ISKRegressor(random_state=0).fit(X, y)
print(model.summary())

# %%
# Single features and pairs, by how much they move the prediction.
plot_importance(model, top=12)

# %%
# The most important of them. A curve, a point or a cell says how much is added to the prediction there; zero
# is the average over the patients, and the grey shapes show where they are.
plot_effects(model, 6)

# %%
# A pair of features as a map: blue adds to the prediction, orange takes away. Hatched cells have no patients
# near them, and the model has nothing to go by there.
pair = next(name for name in model.importances_.top(20) if " × " in name)
plot_effect(model, pair)

# %%
# Why does patient 12 get this prediction? The bars lead from the intercept to the sum, largest first.
plot_contributions(model, X.iloc[[12]], top=8)
