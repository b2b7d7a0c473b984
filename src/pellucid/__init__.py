"""pellucid: interpretable kernel machines.

Start with :class:`KernelRidge` or :class:`KernelRidgeClassifier`; kernels are in :mod:`pellucid.kernels`.
"""

from pellucid import datasets, kernels, preprocessing
from pellucid.export import load, save, to_ase, to_json, to_onnx, to_python, to_sql, to_tables
from pellucid.models import (
    AdditiveKernelClassifier,
    AdditiveKernelRegressor,
    ForceField,
    InterpretableKernelClassifier,
    InterpretableKernelRegressor,
    ISKClassifier,
    ISKRegressor,
    KernelClassifier,
    KernelFisherDiscriminant,
    KernelGLMRegressor,
    KernelRidge,
    KernelRidgeClassifier,
    LooSearch,
    SparseAdditiveClassifier,
    SparseAdditiveRegressor,
    deletion_fidelity,
    edit_by_hand,
    stability,
)
from pellucid.plots import (
    plot_coefficients,
    plot_comparison,
    plot_contributions,
    plot_effect,
    plot_effects,
    plot_importance,
    plot_loo,
    plot_molecule,
    plot_sequence,
    plot_stability,
    plot_structure,
    structure_svg,
)
from pellucid.report import build_report

__version__ = "0.1.0.dev0"

__all__ = [
    "AdditiveKernelClassifier",
    "AdditiveKernelRegressor",
    "ForceField",
    "ISKClassifier",
    "ISKRegressor",
    "InterpretableKernelClassifier",
    "InterpretableKernelRegressor",
    "KernelClassifier",
    "KernelFisherDiscriminant",
    "KernelGLMRegressor",
    "KernelRidge",
    "KernelRidgeClassifier",
    "LooSearch",
    "SparseAdditiveClassifier",
    "SparseAdditiveRegressor",
    "datasets",
    "build_report",
    "deletion_fidelity",
    "edit_by_hand",
    "kernels",
    "load",
    "plot_coefficients",
    "plot_comparison",
    "plot_contributions",
    "plot_effect",
    "plot_effects",
    "plot_importance",
    "plot_loo",
    "plot_molecule",
    "plot_sequence",
    "plot_stability",
    "plot_structure",
    "structure_svg",
    "preprocessing",
    "save",
    "stability",
    "to_ase",
    "to_json",
    "to_onnx",
    "to_python",
    "to_sql",
    "to_tables",
]
