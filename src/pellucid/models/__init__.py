"""The estimators: validate, state the problem, solve, store."""

from pellucid.models.additive import AdditiveKernelClassifier, AdditiveKernelRegressor
from pellucid.models.classifier import KernelRidgeClassifier
from pellucid.models.fisher import KernelFisherDiscriminant
from pellucid.models.glm import KernelClassifier, KernelGLMRegressor
from pellucid.models.interpretable import InterpretableKernelClassifier, InterpretableKernelRegressor
from pellucid.models.isk_classifier import ISKClassifier
from pellucid.models.isk_regressor import ISKRegressor
from pellucid.models.ridge import KernelRidge
from pellucid.models.search import LooSearch
from pellucid.models.sparse_additive import SparseAdditiveRegressor
from pellucid.models.sparse_additive_classifier import SparseAdditiveClassifier
from pellucid.models.stability import stability

__all__ = [
    "AdditiveKernelClassifier",
    "AdditiveKernelRegressor",
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
    "stability",
]
