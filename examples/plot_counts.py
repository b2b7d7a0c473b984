"""
Visits to the doctor: counts that vary more than chance
=======================================================

The RAND health insurance experiment gave families insurance of different generosity and counted what they did
with it. Most years have no visit to a doctor, some have dozens: a mean, and much more variance than that of a
Poisson count.
"""

import matplotlib.pyplot as plt
import numpy as np
import statsmodels.api as sm
from sklearn.metrics import mean_poisson_deviance

from pellucid import AdditiveKernelRegressor, plot_effect, plot_importance

table = sm.datasets.randhie.load_pandas().data.sample(8000, random_state=0)
y = table.pop("mdvis").to_numpy(float)
old, new = slice(0, 4000), slice(4000, None)
print(f"mean {y.mean():.2f}, variance {y.var():.1f}, largest {y.max():.0f}")

# %%
# Three losses with the same log link. Each estimates how much counts vary beyond chance, so that heavy users
# are not taken for news: the Poisson model a factor by which the variance exceeds the mean (``scale_``), the
# negative binomial one that grows with the mean, and Tweedie the power with which it grows.
scores = {"constant": np.full(4000, y[old].mean())}
for loss in ("poisson", "negative_binomial", "tweedie"):
    model = AdditiveKernelRegressor(loss=loss).fit(table[old], y[old])
    scores[loss] = model.predict(table[new])
    print(f"{loss:20s} dispersion {model.scale_:.1f}")
for name, mean in scores.items():
    print(f"{name:20s} deviance on new rows {mean_poisson_deviance(y[new], mean):.3f}")

# %%
# LightGBM with its Poisson objective and early stopping has 4.07 on the same rows. Beside the number, the
# model says by what each feature multiplies the expected visits, here on the scale of logarithms: the
# number of chronic diseases (``disea``), and the logarithm of the coinsurance rate plus one (``lncoins``),
# which is highest for those who pay nearly everything themselves.
figure, axes = plt.subplots(1, 2, figsize=(8, 3.2), sharey=True, layout="constrained")
for name, ax in zip(("disea", "lncoins"), axes, strict=True):
    plot_effect(model, name, ax=ax)
plt.show()

# %%
# How much each term matters. ``fmde``, the most that a family had to pay, takes so many values that it
# nearly names the family, and so stands for all that families have in common.
plot_importance(model, top=8)
plt.show()
