"""The estimators: validate, state the problem, solve, store."""

from pellucid.models.additive.classifier import AdditiveKernelClassifier
from pellucid.models.additive.regressor import AdditiveKernelRegressor
from pellucid.models.common.from_formula import fit_formula
from pellucid.models.common.parts import deletion_fidelity
from pellucid.models.conformal.intervals import conformal
from pellucid.models.forces.force_field import ForceField
from pellucid.models.glm.classifier import KernelClassifier
from pellucid.models.glm.regressor import KernelGLMRegressor
from pellucid.models.interpretable.classifier import InterpretableKernelClassifier
from pellucid.models.interpretable.regressor import InterpretableKernelRegressor
from pellucid.models.isk.classifier import ISKClassifier
from pellucid.models.isk.regressor import ISKRegressor
from pellucid.models.merging.merge import merge
from pellucid.models.reading.attribution import shapley_values, sobol_shares
from pellucid.models.reading.by_hand import edit_by_hand
from pellucid.models.reading.comparison import compare
from pellucid.models.reading.drift import drift
from pellucid.models.reading.fairness import fairness
from pellucid.models.ridge.classifier import KernelRidgeClassifier
from pellucid.models.ridge.fisher import KernelFisherDiscriminant
from pellucid.models.ridge.regressor import KernelRidge
from pellucid.models.search.loo_search import LooSearch
from pellucid.models.sparse_additive.classifier import SparseAdditiveClassifier
from pellucid.models.sparse_additive.regressor import SparseAdditiveRegressor
from pellucid.models.stability.repeated_splits import stability

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
    "compare",
    "conformal",
    "deletion_fidelity",
    "drift",
    "fairness",
    "shapley_values",
    "sobol_shares",
    "edit_by_hand",
    "fit_formula",
    "merge",
    "stability",
]
