"""Static figures: each function takes a model or an ``effects`` object and returns the Axes."""

from pellucid.plots.coefficients import plot_coefficients
from pellucid.plots.comparison import plot_comparison
from pellucid.plots.contributions import plot_contributions
from pellucid.plots.effects import plot_effect, plot_effects
from pellucid.plots.importance import plot_importance
from pellucid.plots.loo import plot_loo
from pellucid.plots.molecule import plot_molecule
from pellucid.plots.sequence import plot_sequence
from pellucid.plots.shapley import plot_shapley
from pellucid.plots.stability import plot_stability
from pellucid.plots.structure import plot_structure, structure_svg

__all__ = [
    "plot_coefficients",
    "plot_comparison",
    "plot_contributions",
    "plot_effect",
    "plot_effects",
    "plot_importance",
    "plot_loo",
    "plot_molecule",
    "plot_sequence",
    "plot_shapley",
    "plot_stability",
    "plot_structure",
    "structure_svg",
]
