"""
A kernel as a formula
=====================

Trend plus season: a composed kernel, its parameters learned by descent on the leave-one-out error.
"""

import numpy as np
from matplotlib import pyplot as plt

from pellucid import KernelRidge, LooSearch
from pellucid.kernels import RBF, Linear, Periodic

rng = np.random.default_rng(0)
t = np.sort(rng.uniform(0, 8, 160))[:, None]
y = 0.6 * t[:, 0] + np.sin(2 * np.pi * t[:, 0] / 1.3) + 0.3 * rng.normal(size=160)

# %%
# A straight line, a wave, and slow deviations from both. The period is a little off on purpose. The error has
# many local minima in a period, so a descent must start near the right one.
kernel = Linear() + Periodic(period=1.28, length_scale=0.5) + 0.5 * RBF(3.0)
print(kernel)
search = LooSearch(KernelRidge(kernel)).fit(t, y)
print(search.summary())

# %%
# The learned period is close to the true 1.3, and the model carries the pattern beyond the data.
grid = np.linspace(0, 11, 600)[:, None]
mean, std = search.predict(grid, return_std=True)
figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
ax.fill_between(grid[:, 0], mean - 2 * std, mean + 2 * std, alpha=0.2, label="± 2 posterior sd")
ax.plot(grid[:, 0], mean, label="fit")
ax.plot(t[:, 0], y, ".", color="black", label="data")
ax.axvline(8, color="0.6", linestyle="--")
ax.set(xlabel="t", ylabel="y")
ax.legend(frameon=False)
