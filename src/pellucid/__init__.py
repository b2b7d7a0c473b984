"""pellucid: interpretable kernel machines.

Start with :class:`KernelRidge` or :class:`KernelRidgeClassifier`; kernels are in :mod:`pellucid.kernels`.
"""

from pellucid import kernels, preprocessing
from pellucid.models import (
    InterpretableKernelClassifier,
    InterpretableKernelRegressor,
    KernelClassifier,
    KernelFisherDiscriminant,
    KernelGLMRegressor,
    KernelRidge,
    KernelRidgeClassifier,
    LooSearch,
    stability,
)
from pellucid.plots import plot_coefficients, plot_loo, plot_stability

__version__ = "0.1.0.dev0"

__all__ = [
    "InterpretableKernelClassifier",
    "InterpretableKernelRegressor",
    "KernelClassifier",
    "KernelFisherDiscriminant",
    "KernelGLMRegressor",
    "KernelRidge",
    "KernelRidgeClassifier",
    "LooSearch",
    "kernels",
    "plot_coefficients",
    "plot_loo",
    "plot_stability",
    "preprocessing",
    "stability",
]
