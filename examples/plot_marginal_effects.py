"""
Marginal effects of a kernel model
==================================

How much does the prediction change with a feature, where, and how surely?
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_diabetes

from pellucid import KernelRidge

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
model = KernelRidge("matern").fit(X, y)
effects = model.marginal_effects()
print(effects)

# %%
# The average hides what the kernel found. The effect of body mass on progression at each patient, with two
# standard # errors:
bmi = list(X.columns).index("bmi")
order = np.argsort(X["bmi"].to_numpy())
value = effects.pointwise[order, bmi]
error = effects.pointwise_error[order, bmi]
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.errorbar(X["bmi"].to_numpy()[order], value, 2 * error, fmt=".", elinewidth=0.4, alpha=0.6)
ax.axhline(effects.average[bmi], linestyle="--", color="0.3", label=f"average {effects.average[bmi]:.2f}")
ax.set(xlabel="body mass index", ylabel="∂ prediction / ∂ bmi")
ax.legend(frameon=False)
