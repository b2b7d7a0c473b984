"""Fitted models as numbers that other programs compute with, the one description that all exports write.

:mod:`read` turns an estimator into a :class:`ScoringModel` (:mod:`model`), whose :mod:`parts` are features,
axes, terms and the response; :mod:`cells` reads rows to score.
"""

from pellucid.export.scoring.model import ScoringModel

__all__ = ["ScoringModel"]
