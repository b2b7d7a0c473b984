"""
Coefficients over wavelengths, and models compared
==================================================

Where the features are ordered, such as wavelengths, coefficients are drawn as a profile. Several models are
compared on the same splits of the data, by their errors and by how they rank.
"""

import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import RidgeCV

from pellucid import InterpretableKernelRegressor, plot_coefficients, plot_comparison, stability

# %%
# Spectra of 60 mixtures of two substances with overlapping bands on a drifting background. The share of the
# first is to be told from 150 wavelengths.
rng = np.random.default_rng(0)
wavelength = np.linspace(1100, 1700, 150)
bands = np.exp(-(((wavelength - [[1320], [1400]]) / 45) ** 2))
share = rng.uniform(0, 1, size=60)
background = rng.normal(size=(60, 1)) + rng.normal(size=(60, 1)) * (wavelength - 1400) / 300
spectra = np.column_stack([share, 1 - share]) @ bands + 0.1 * background
spectra += 0.01 * rng.normal(size=spectra.shape)
y = share + 0.02 * rng.normal(size=60)

# %%
# With more wavelengths than spectra the coefficients reproduce the fitted values of the kernel model. Their
# profile shows what is weighed against what: the first band up, the second down.
model = InterpretableKernelRegressor(alpha="loo").fit(spectra, y)
se = model.coefficient_frame()["standard_error"]
plot_coefficients(model, wavelength, kind="profile", se=se, xlabel="wavelength (nm)")

# %%
# Three methods on the same thirty splits. Ranks compare them split by split.
methods = {
    "kernel, as coefficients": InterpretableKernelRegressor(alpha="loo", certify=0),
    "ridge": RidgeCV(np.geomspace(1e-4, 1e2, 13)),
    "forest": RandomForestRegressor(50, random_state=0),
}
plot_comparison(stability(methods, spectra, y, n_splits=30, random_state=0))
