"""
Kernel ridge without tuning
===========================

Fit kernel ridge on raw data, look at the leave-one-out evidence, and ask how sure it is of new rows.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

from pellucid import KernelRidge, plot_loo

# %%
# The columns are in years, units of serum, and so on. Nothing is scaled, nothing is set.
X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, random_state=0)
model = KernelRidge().fit(X_train, y_train)
print(model.summary())

# %%
# Each point on the left is predicted by the model that never saw it. On the right, the error along the path
# over # alphas: all of it comes from one decomposition.
figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
plot_loo(model, ax=axes[0])
plot_loo(model, "path", ax=axes[1])

# %%
# Intervals for new targets by the jackknife+, in the order of the prediction.
interval = model.predict_interval(X_test, coverage=0.9)
prediction = model.predict(X_test)
order = np.argsort(prediction)
inside = (interval[:, 0] <= y_test) & (y_test <= interval[:, 1])
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.fill_between(np.arange(len(order)), *interval[order].T, alpha=0.2, label="90 % interval")
ax.plot(prediction[order], label="prediction")
ax.plot(y_test.to_numpy()[order], ".", color="black", label=f"target ({100 * inside.mean():.0f} % inside)")
ax.set(xlabel="test patient, by prediction", ylabel="progression")
ax.legend(frameon=False)
