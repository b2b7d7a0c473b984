"""Static figures: each function takes a model or an ``effects`` object and returns the Axes."""

from pellucid.plots.loo import plot_loo
from pellucid.plots.stability import plot_coefficients, plot_stability

__all__ = ["plot_coefficients", "plot_loo", "plot_stability"]
