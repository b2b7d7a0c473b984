"""
Reading a kernel model of a microbiome
======================================

Counts with many zeros and totals that mean nothing: transform, standardise, fit, and read which parts matter.
The data are generated, so that the answer is known."""

import warnings

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pellucid import InterpretableKernelClassifier
from pellucid.exceptions import FidelityWarning
from pellucid.preprocessing import Closure, PowerTransform

# %%
# Thirty genera in 400 samples, counted to very different depths. Three genera are more common in the sick,
# three less.
rng = np.random.default_rng(0)
names = [f"genus {j}" for j in range(1, 31)]
sick = rng.random(400) < 0.5
shift = np.zeros(30)
shift[[2, 7, 11]], shift[[4, 9, 18]] = 1.0, -1.0
logs = rng.normal(2.0, 1.2, size=30) + rng.normal(size=(400, 30)) + np.outer(sick, shift)
depth = rng.lognormal(0.0, 1.0, size=(400, 1))
counts = pd.DataFrame(rng.poisson(depth * np.exp(logs)), columns=names)
totals = counts.sum(axis=1)
print(f"{100 * (counts == 0).to_numpy().mean():.0f} % zeros, totals from {totals.min()} to {totals.max()}")

# %%
# The total must go, and the few largest genera must not decide everything: shares to a power between 0 and 1.
# Predicting by coefficients that follow their kernel model poorly gives a warning, which is turned off here
# as fidelities are shown.
warnings.simplefilter("ignore", FidelityWarning)
train, test = slice(0, 267), slice(267, None)
steps = {
    "counts": [],
    "shares": [Closure()],
    "square roots of shares": [PowerTransform(0.5)],
    "shares to the power 0.28": [PowerTransform(0.28)],
}
for label, first in steps.items():
    model = make_pipeline(*first, StandardScaler(), InterpretableKernelClassifier(alpha="loo"))
    model.set_output(transform="pandas").fit(counts[train], sick[train])
    errors = [np.mean(model.predict(counts[test], how=how) != sick[test]) for how in ("linear", "kernel")]
    fidelity = model[-1].certificate_.fidelity
    print(
        f"{label:<26} misclassified: linear {errors[0]:.3f}, kernel {errors[1]:.3f}; fidelity {fidelity:.2f}"
    )

# %%
# The last of these models. Its certificate says what the coefficients are worth:
print(model[-1].certificate_)

# %%
# Coefficients with 95 % intervals. Filled dots are the six genera that differ by construction. As shares add
# up to one, what the six gain or lose is lost or gained by all others, so that zero is not quite the truth
# for these.
frame = model[-1].coefficient_frame()
order = np.argsort(frame["coefficient"].to_numpy())
frame, truth = frame.iloc[order], shift[order]
figure, ax = plt.subplots(figsize=(7, 6), layout="constrained")
at = np.arange(len(frame))
colours = np.where(truth > 0, "#d55e00", np.where(truth < 0, "#0072b2", "0.55"))
ax.hlines(at, frame["low"], frame["high"], color=colours, linewidth=1.6)
ax.scatter(
    frame["coefficient"], at, color=np.where(truth != 0, colours, "white"), edgecolor=colours, zorder=3, s=28
)
ax.axvline(0.0, color="0.3", linewidth=0.8)
ax.set_yticks(at, labels=list(frame.index), fontsize=8)
ax.set(xlabel="coefficient of the log odds of disease, per standard deviation", ylim=(-0.7, len(at) - 0.3))
ax.spines[["top", "right"]].set_visible(False)
