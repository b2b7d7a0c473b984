"""pellucid: interpretable kernel machines.

Start with :class:`KernelRidge` or :class:`KernelRidgeClassifier`; kernels are in :mod:`pellucid.kernels`.
"""

from pellucid import kernels
from pellucid.models import (
    InterpretableKernelClassifier,
    InterpretableKernelRegressor,
    KernelClassifier,
    KernelFisherDiscriminant,
    KernelGLMRegressor,
    KernelRidge,
    KernelRidgeClassifier,
    LooSearch,
)
from pellucid.plots import plot_loo

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
    "plot_loo",
]
