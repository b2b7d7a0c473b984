"""Static figures: each function takes a model or an ``effects`` object and returns the Axes."""

from pellucid.plots.loo import plot_loo

__all__ = ["plot_loo"]
