"""Compositional data: rows of non-negative parts whose total carries no information.

Start with :class:`CenteredLogRatio` where all parts are positive, and with :class:`PowerTransform` where
some are zero.
"""

from pellucid.preprocessing.closure import Closure
from pellucid.preprocessing.logratio import AdditiveLogRatio, CenteredLogRatio, IsometricLogRatio
from pellucid.preprocessing.power import PowerTransform
from pellucid.preprocessing.zeros import ReplaceZeros

__all__ = [
    "AdditiveLogRatio",
    "CenteredLogRatio",
    "Closure",
    "IsometricLogRatio",
    "PowerTransform",
    "ReplaceZeros",
]
