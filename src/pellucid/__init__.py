"""pellucid: interpretable kernel machines.

Start with :class:`KernelRidge` or :class:`KernelRidgeClassifier`; kernels are in :mod:`pellucid.kernels`.
Each layer lists what it has for users: estimators :mod:`pellucid.models`, figures :mod:`pellucid.plots`.
"""

from pellucid import datasets, kernels, models, plots, preprocessing
from pellucid.export import load, save, to_ase, to_json, to_onnx, to_python, to_sql, to_tables
from pellucid.models import *  # noqa: F403
from pellucid.plots import *  # noqa: F403
from pellucid.report import build_report

__version__ = "0.1.0.dev0"

__all__ = ["datasets", "kernels", "preprocessing", "build_report", "load", "save"]
__all__ += ["to_ase", "to_json", "to_onnx", "to_python", "to_sql", "to_tables"]
__all__ += models.__all__
__all__ += plots.__all__
