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
from pellucid.kernels.structured.bags import MeanEmbedding
from pellucid.kernels.structured.counts import CountedParts
from pellucid.kernels.structured.gapped import GappedKmer, WeightedDegree
from pellucid.kernels.structured.graphs import ShortestPath, WeisfeilerLehman
from pellucid.kernels.structured.molecules import MinMax, Tanimoto
from pellucid.kernels.structured.strings import Mismatch, Spectrum
from pellucid.kernels.structured.subsequence import Subsequence
from pellucid.kernels.structured.text import NGrams
from pellucid.kernels.structured.walks import Graphlet, RandomWalk

__all__ = [
    "ALIASES",
    "NTK",
    "NGrams",
    "RBF",
    "REGISTRY",
    "AdditivePairs",
    "Categorical",
    "Constant",
    "CountedParts",
    "Exponential",
    "GappedKmer",
    "GramFunction",
    "Graphlet",
    "Kernel",
    "Laplacian",
    "Linear",
    "Matern",
    "MeanEmbedding",
    "MinMax",
    "Mismatch",
    "PairFunction",
    "Periodic",
    "Polynomial",
    "Power",
    "Precomputed",
    "Product",
    "RandomWalk",
    "RationalQuadratic",
    "Restricted",
    "ShortestPath",
    "SklearnKernel",
    "Spectrum",
    "Subsequence",
    "Sum",
    "Tanimoto",
    "WeightedDegree",
    "WeisfeilerLehman",
    "as_kernel",
]
