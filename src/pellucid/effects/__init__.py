"""Reading a fitted model: pure functions and frozen dataclasses."""

from pellucid.effects.comparison import ModelComparison, RowChange, TermChange
from pellucid.effects.deletion import DeletionFidelity
from pellucid.effects.drift import Drift
from pellucid.effects.explanation import Explanation, explain_row
from pellucid.effects.fairness import GroupTable
from pellucid.effects.influence import Influence
from pellucid.effects.intervals import jackknife_plus
from pellucid.effects.linear import Certificate, LinearView
from pellucid.effects.loo import AlphaPath, LeaveOneOut
from pellucid.effects.marginal import MarginalEffects, marginal_effects
from pellucid.effects.motifs import Motifs
from pellucid.effects.parts import PartContributions, SiteMap
from pellucid.effects.purify import purify_effects, purify_surface
from pellucid.effects.shapley import ShapleyValues
from pellucid.effects.sobol import SobolShares
from pellucid.effects.solver_report import SolverReport
from pellucid.effects.sparse_path import SparsePath
from pellucid.effects.stability import Stability
from pellucid.effects.summary import Summary
from pellucid.effects.terms import Effect, Grid, Importances, Term, term_name

__all__ = [
    "AlphaPath",
    "Certificate",
    "DeletionFidelity",
    "Drift",
    "Effect",
    "Explanation",
    "Grid",
    "GroupTable",
    "Importances",
    "Influence",
    "LeaveOneOut",
    "LinearView",
    "MarginalEffects",
    "ModelComparison",
    "Motifs",
    "PartContributions",
    "RowChange",
    "ShapleyValues",
    "SiteMap",
    "SobolShares",
    "SolverReport",
    "SparsePath",
    "Stability",
    "Summary",
    "Term",
    "TermChange",
    "explain_row",
    "jackknife_plus",
    "marginal_effects",
    "purify_effects",
    "purify_surface",
    "term_name",
]
