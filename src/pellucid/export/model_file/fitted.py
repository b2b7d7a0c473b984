"""What ``fit`` sets, for every estimator that a model file may hold, and the parts of composed kernels.

Keys are names of classes, then names of attributes; a question mark ends the name of one that some models
lack. The kind is an annotation, or the name of a class of pellucid's, wherever that is defined. An attribute
that a new version of an estimator sets is entered here, with a question mark if earlier files should load.
"""

import types
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.gaussian_process.kernels import Kernel as ForeignKernel

from pellucid.kernels import Kernel
from pellucid.linalg import SparseRows
from pellucid.losses import Loss

Numbers = float | np.ndarray
_Reals = npt.NDArray[np.floating]

_RIDGE = "KernelRidge KernelRidgeClassifier KernelFisherDiscriminant"
_LINEAR = "InterpretableKernelRegressor InterpretableKernelClassifier"
_GLM = f"KernelGLMRegressor KernelClassifier {_LINEAR}"
_ADDITIVE = "AdditiveKernelRegressor AdditiveKernelClassifier"
_SPARSE = "SparseAdditiveRegressor SparseAdditiveClassifier"
_ISK = "ISKRegressor ISKClassifier"
_FOURIER = "PairwiseFourierFeatures RandomFourierFeatures"
_SIMPLEX = "AdditiveLogRatio CenteredLogRatio Closure IsometricLogRatio PowerTransform ReplaceZeros"
_MACHINES = f"{_RIDGE} {_GLM} {_ADDITIVE} {_SPARSE} {_ISK}"
_CLASSIFIERS = " ".join(name for name in _MACHINES.split() if name.endswith(("Classifier", "Discriminant")))


def _of(cls: type, *parts: Any) -> Any:
    """``cls[parts]`` where the parts are names of classes."""
    return types.GenericAlias(cls, parts)


FITTED: dict[str, dict[str, Any]] = {
    f"{_MACHINES} LooSearch {_FOURIER} {_SIMPLEX}": {"n_features_in_": int, "feature_names_in_?": np.ndarray},
    f"{_MACHINES} LooSearch": {"roles_?": dict[str, str]},
    _MACHINES: {"formula_?": str},
    _CLASSIFIERS: {"classes_": np.ndarray},
    f"{_GLM} AdditiveKernelRegressor SparseAdditiveClassifier ISKClassifier": {"loss": str | Loss},
    f"{_RIDGE} {_GLM}": {
        "kernel_": Kernel,
        "weight_fit_ _dual _intercept": _Reals,
        "_kept": np.ndarray,
        "levels_?": dict[str, tuple],
        "X_fit_": np.ndarray | SparseRows,
        "alpha_ intercept_? dual_coef_? coef_?": Numbers,
    },
    _RIDGE: {
        "_alpha _dof _likelihood _residual_square _scale _shift _unit": _Reals,
        "_primal": _Reals | None,
        "_chosen _single": bool,
        "solver_ solver_reason_": str,
        "solver_report_?": "SolverReport",
        "_centres?": np.ndarray | None,
        "_criteria": dict[str, float],
        "loo_?": "LeaveOneOut",
        "sums_?": "FeatureSums",
        "loo_rows_?": np.ndarray,  # where the rows at hand were a sample, as the next two
        "_all_rows?": int,
        "_all_observations?": float,
        "effective_dof_ log_marginal_likelihood_? scale_?": Numbers,
    },
    "KernelRidgeClassifier": {"calibration_": "Calibration"},
    "KernelFisherDiscriminant": {"explained_ means_ priors_ scalings_": _Reals, "_n_features_out": int},
    _GLM: {
        "loss_": Loss,
        "losses_?": list[Loss],
        "_kernel_features?": "KernelFeatures",  # in files of earlier versions, as the next
        "alpha_path_?": "AlphaChoice",
        "centre_alpha_?": float,
        "_kernel_fits?": _of(list, "GLMFit|MultinomialFit|HingeFit"),
        "_centres": np.ndarray | None,
        "_scores_fit": _Reals,
        "solver_report_?": "SolverReport",
        "kernel_accuracy_ optimality_ _unit?": float,
        "n_iter_": int,
    },
    _LINEAR: {
        "_columns": "WeightedColumns",
        "certificate_": "Certificate",
        "_problems": _of(list, "GLMProblem"),
        "_fits": _of(list, "GLMFit|MultinomialFit"),
        "_Z _linear_coef _linear_intercept feature_sd_": _Reals,
        "_weight?": _Reals,  # in files of earlier versions, as the next
        "_exact?": bool,
        "kaf_ kernel_alpha_": float,
    },
    f"{_ADDITIVE} {_SPARSE} {_ISK}": {
        "terms_": list[tuple[int, ...]],
        "term_names_": list[str],
        "importances_": "Importances",
        "intercept_": Numbers,
    },
    "AdditiveKernelClassifier": {"loss": str | Loss, "class_weight": str | dict | None},
    "AdditiveKernelRegressor KernelGLMRegressor InterpretableKernelRegressor": {
        "quantile": float | int | list | tuple | np.ndarray
    },
    _ADDITIVE: {
        "loss_": Loss,
        "losses_?": list[Loss],  # which files of earlier versions lack, as the next
        "outputs_?": list[str],
        "max_time": float | int | None,
        "verbose": int,
        "tables_": "TermTables",
        "_refit_spec": "RefitSpec",
        "receipt_": "Receipt",
        "sums_?": "RowSums",
        "loo_?": "LeaveOneOut",  # which models made from sums lack, as the rows to leave out
        "columns_": _of(tuple, "Column", ...),
        "effects_": _of(dict, str, "Effect"),
        "edits_ tests_": list,
        "_loo_weight? _fold_weight?": _Reals,
        "fold_residuals_?": _Reals | None,
        "fold_deviance_explained_?": float | None,
        "loo_rows_?": np.ndarray,
        "deviance_explained_ edf_ loo_deviance_explained_? scale_": float,
        "n_rows_": int,
    },
    f"{_SPARSE} {_ISK}": {
        "path_": "SparsePath",
        "alpha_": float,
        "_intercept": _Reals,
        "columns_?": _of(tuple, "Column", ...),
    },
    _SPARSE: {
        "_smooths_fit": _of(list, "Smooth"),
        "effects_": _of(dict, str, "Effect"),
        "_coef": _Reals,
        "_kept categorical_ selected_": np.ndarray,
        "optimality_": float,
        "n_basis_": int,
    },
    "SparseAdditiveClassifier": {"loss_": Loss},
    "ISKClassifier": {"loss_?": Loss},
    _ISK: {
        "_scaler": "Scaler",
        "_pairs": "PairMap",
        "_densities": "Densities",
        "_grids": _of(list, "Grid"),
        "trials_": list[tuple[float, ...]],
        "_categorical?": tuple[int, ...],  # in files of earlier versions
        "_outputs?": tuple[str, ...],
        "_W _beta _mean _sd": _Reals,
        "l1_ratio_ sigma_ sparse_alpha_": float,
        "n_iter_ n_rows_": int,
        "solver_": str,
    },
    "LooSearch": {
        "estimator best_estimator_": BaseEstimator,
        "best_params_ results_": dict,
        "best_score_": float,
        "classes_?": np.ndarray,
    },
    "ForceField": {
        "kernel_": Kernel,
        "R_fit_ F_fit_ dual_coef_ residuals_": _Reals,
        "atoms_ permutations_": np.ndarray,
        "alpha_ constant_ scale_": float,
        "solver_ solver_reason_": str,
        "trials_": "Trials|None",
    },
    _FOURIER: {"frequencies_": _Reals, "n_features_out_": int, "dtype": Literal["float32", "float64"]},
    "PairwiseFourierFeatures": {"_map": "PairMap", "pairs_": list[tuple[int, ...]]},
    "AdditiveLogRatio": {"reference_": int},
    "PowerTransform": {"_power": float, "chi closure": bool, "column_means_?": _Reals},
    "ReplaceZeros": {"_fraction": float, "detection_limit_": _Reals},
    "Sum Product": {"operands": tuple[Kernel, ...]},
    "Power Exponential Restricted MeanEmbedding": {"base": Kernel},
    "Restricted": {"_positions": list[int] | None},
    "SklearnKernel": {"kernel": ForeignKernel},
    "Pipeline": {"steps": list[tuple[str, Any]], "memory": None},  # memory is a folder of pickles
}
