"""
Coefficients of a kernel model
==============================

Fit a kernel model, read it as a linear one, and see in its certificate how far the reading can be trusted.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_diabetes, load_digits

from pellucid import InterpretableKernelClassifier, InterpretableKernelRegressor
from pellucid.kernels import RBF

BLUE, ORANGE = "#0072b2", "#d55e00"

# %%
# Ten features of 442 patients, in their own units. The kernel is projected on what is linear in the features;
# KAF is the share of it that remains.
X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
model = InterpretableKernelRegressor(alpha="loo").fit(X[:350], y[:350])
print(model.certificate_)

# %%
# Coefficients per standard deviation of the feature, with 95 % intervals for what the penalised fit
# estimates. Orange intervals are on one side of zero.
frame = model.coefficient_frame()
frame = frame.loc[frame["per_sd"].abs().sort_values().index]
sd = frame["per_sd"] / frame["coefficient"]
low, high = frame["low"] * sd, frame["high"] * sd
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for i in range(len(frame)):
    colour = ORANGE if low.iloc[i] > 0 or high.iloc[i] < 0 else "0.45"
    ax.plot([low.iloc[i], high.iloc[i]], [i, i], color=colour, linewidth=2)
    ax.plot(frame["per_sd"].iloc[i], i, "o", color=colour)
ax.axvline(0.0, color="0.3", linewidth=0.8)
ax.set_yticks(range(len(frame)), labels=list(frame.index))
ax.set(xlabel="change of predicted progression per standard deviation")
ax.spines[["top", "right"]].set_visible(False)

# %%
# The coefficients are one predictor, the kernel model is another. On patients that neither has seen:
linear, kernel = (model.predict(X[350:], how=how) for how in ("linear", "kernel"))
figure, ax = plt.subplots(figsize=(4.4, 4.2), layout="constrained")
ax.plot(kernel, linear, ".", color=BLUE)
ax.axline((150.0, 150.0), slope=1.0, color="0.3", linewidth=0.8)
ax.set(xlabel="prediction of the kernel model", ylabel="prediction by the coefficients", aspect="equal")
for name, prediction in (("linear", linear), ("kernel", kernel)):
    print(f"{name}: RMSE {np.sqrt(np.mean((prediction - y[350:]) ** 2)):.1f}")

# %%
# With more features than rows the coefficients reproduce the fitted values exactly, whatever the kernel.
# Forty images of the digits 3 and 8 have 64 pixels, and each pixel gets a coefficient: purple speaks for an
# 8, orange for a 3. The narrower the kernel, the less the coefficients have to say about new images.
pixels, digit = load_digits(return_X_y=True)
chosen = (digit == 3) | (digit == 8)
pixels, digit = pixels[chosen] / 16.0, digit[chosen]
figure, axes = plt.subplots(1, 3, figsize=(9, 3.4), layout="constrained")
for ax, length_scale in zip(axes, (3.0, 1.0, 0.5), strict=True):
    digits = InterpretableKernelClassifier(RBF(length_scale), alpha=0.1).fit(pixels[:40], digit[:40])
    certificate = digits.certificate_
    gap, fidelity = certificate.in_sample_gap, certificate.fidelity
    print(f"length-scale {length_scale}: gap {gap:.0e} sd, fidelity {fidelity:.2f}")
    largest = np.abs(digits.coef_).max()
    ax.imshow(digits.coef_.reshape(8, 8), cmap="PuOr", vmin=-largest, vmax=largest)
    ax.set_title(f"length-scale {length_scale}\nheld-out fidelity {fidelity:.2f}", fontsize=10)
    ax.axis("off")
