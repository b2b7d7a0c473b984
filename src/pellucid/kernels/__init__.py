"""Kernels: what it means for two rows to be alike.

Start with :class:`RBF` or :class:`Matern`; combine with ``+``, ``*``, ``**``, ``.exp()`` and
``.on(columns)``.
"""

from pellucid.kernels.additive import AdditivePairs
from pellucid.kernels.algebra import Exponential, Power, Product, Sum
from pellucid.kernels.base import REGISTRY, Kernel
from pellucid.kernels.convert import ALIASES, as_kernel
from pellucid.kernels.discrete import Categorical, Constant
from pellucid.kernels.dot import NTK, Linear, Polynomial
from pellucid.kernels.foreign import GramFunction, PairFunction, Precomputed, SklearnKernel
from pellucid.kernels.product import Laplacian, Periodic
from pellucid.kernels.restrict import Restricted
from pellucid.kernels.stationary import RBF, Matern, RationalQuadratic

__all__ = [
    "ALIASES",
    "NTK",
    "RBF",
    "REGISTRY",
    "AdditivePairs",
    "Categorical",
    "Constant",
    "Exponential",
    "GramFunction",
    "Kernel",
    "Laplacian",
    "Linear",
    "Matern",
    "PairFunction",
    "Periodic",
    "Polynomial",
    "Power",
    "Precomputed",
    "Product",
    "RationalQuadratic",
    "Restricted",
    "SklearnKernel",
    "Sum",
    "as_kernel",
]
