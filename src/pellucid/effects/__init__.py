"""Reading a fitted model: pure functions and frozen dataclasses."""

from pellucid.effects.influence import Influence
from pellucid.effects.intervals import jackknife_plus
from pellucid.effects.linear import Certificate, LinearView
from pellucid.effects.loo import AlphaPath, LeaveOneOut
from pellucid.effects.marginal import MarginalEffects, marginal_effects
from pellucid.effects.stability import Stability
from pellucid.effects.summary import Summary

__all__ = [
    "AlphaPath",
    "Certificate",
    "Influence",
    "LeaveOneOut",
    "LinearView",
    "MarginalEffects",
    "Stability",
    "Summary",
    "jackknife_plus",
    "marginal_effects",
]
