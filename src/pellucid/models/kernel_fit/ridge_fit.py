"""From data and settings to a fitted kernel ridge: the part that all ridge estimators share."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.effects import AlphaPath
from pellucid.kernels import Kernel, Linear, Precomputed
from pellucid.linalg import is_sparse, require_memory, symmetrise
from pellucid.models.kernel_fit.conditioning import BadlyConditioned, badly_conditioned
from pellucid.models.kernel_fit.landmark_fit import fit_landmarks
from pellucid.models.kernel_fit.ridge_types import RidgeFit, RowsBeyond, Score, Settings, relative_alphas
from pellucid.models.kernel_fit.tall_fit import fit_iterative, walk_downhill
from pellucid.solvers import (
    CRITERIA,
    Choice,
    CholeskySolver,
    PrimalSolver,
    SpectralSolver,
    check_positive,
    choose_solver,
    clip,
    positive_part,
)

# Smaller differences of a criterion (relative, for errors) are rounding error, which must not choose.
_AS_GOOD = 1e-6
_DENSE_FEATURES = 8000  # of sparse rows, beyond which products of sparse rows are multiplied instead

Solver = CholeskySolver | SpectralSolver | PrimalSolver


def fit_ridge(
    kernel: Kernel,
    X: np.ndarray,
    Y: np.ndarray,
    weight: np.ndarray,
    settings: Settings,
    *,
    score: Score | None = None,
    path: AlphaPath | None = None,
    drawn: np.ndarray | None = None,
    beyond: RowsBeyond | None = None,
) -> RidgeFit:
    """Fit targets of shape (n, q) to rows of positive weight, choosing alpha where the settings ask for it.

    ``score`` is a figure to keep along the path over alphas; a ``path`` that was already walked is chosen
    from. Landmarks are chosen among the rows ``drawn``. Rows ``beyond`` those at hand are for landmarks.
    """
    n = len(Y)
    if beyond is not None:
        choice = Choice("landmarks", f"{beyond.n_rows} rows come in blocks")
        return fit_landmarks(kernel, X, Y, weight, settings, choice, score, drawn, beyond)
    n_features = _primal_count(kernel, X, settings)
    choice = choose(kernel, X, settings)
    if choice.name == "iterative":
        found = badly_conditioned(kernel, X, Y, weight, settings)
        if found is None:
            return fit_iterative(kernel, X, Y, weight, settings, choice, score)
        return _fit_dense(kernel, X, Y, weight, settings, found, score)
    if choice.name == "landmarks":
        return fit_landmarks(kernel, X, Y, weight, settings, choice, score, drawn)
    if settings.criterion is None:
        candidates: np.ndarray | None = np.unique(settings.alpha)
    elif path is not None:
        candidates = np.unique(_choose(path, settings, Y, weight))
    else:
        candidates = settings.alphas
    relative = relative_alphas(settings.floor)
    n_alphas = len(relative) if candidates is None else len(candidates)
    choice = choose_solver(settings.solver, n_rows=n, n_features=n_features, n_alphas=n_alphas, dense=True)
    solver, kept = start_solver(kernel, X, weight, choice, settings, n_alphas=n_alphas)
    if candidates is None:
        unit = alpha_unit(solver, weight)
        if unit < 1e-150:
            raise ValueError(
                f"The values of the kernel {kernel} vary by no more than {unit:.3g} on these data, too "
                f"little to choose alpha. Rescale the features, or name the kernel by a string such as 'rbf'."
            )
        candidates = unit * relative
    if settings.criterion is None:
        alpha = np.asarray(settings.alpha)
    else:
        if path is None:
            path = walk_path(solver, Y, candidates, score)
        alpha = _choose(path, settings, Y, weight)
    return _finish(kernel, solver, kept, Y, weight, alpha, path, choice)


def _fit_dense(
    kernel: Kernel,
    X: np.ndarray,
    Y: np.ndarray,
    weight: np.ndarray,
    settings: Settings,
    found: BadlyConditioned,
    score: Score | None,
) -> RidgeFit:
    """Fit rows that are badly conditioned by a factor for each alpha on the way downhill."""
    choice = Choice("cholesky", found.reason)
    solver, _ = start_solver(kernel, X, weight, choice, settings, n_alphas=2)
    alpha, path = settings.alpha, None
    if settings.criterion is not None:
        candidates = found.unit * relative_alphas(settings.floor)
        candidates = candidates if settings.alphas is None else np.sort(settings.alphas)
        path = walk_downhill(
            lambda a: AlphaPath.of(solver.fits(Y, np.array([a])), score),
            Y,
            weight,
            candidates,
            found.start,
            settings,
        )
        alpha = _choose(path, settings, Y, weight)
    return _finish(kernel, solver, None, Y, weight, np.asarray(alpha), path, choice)


def choose(kernel: Kernel, X: np.ndarray, settings: Settings, n_alphas: int = 1) -> Choice:
    """The solver for these rows, by their number and what the kernel is."""
    dense = not kernel.mercer or any(isinstance(node, Precomputed) for node in kernel._nodes())
    n_features = _primal_count(kernel, X, settings)
    return choose_solver(
        settings.solver, n_rows=len(X), n_features=n_features, n_alphas=n_alphas, dense=dense
    )


def start_solver(
    kernel: Kernel,
    X: np.ndarray,
    weight: np.ndarray,
    choice: Choice,
    settings: Settings,
    *,
    n_alphas: int = 1,
) -> tuple[Solver, np.ndarray | None]:
    """Evaluate the kernel, or its features, and hand the matrix to the solver of choice.

    Returns the solver and, where negative eigenvalues were clipped, the eigenvectors that were kept.
    """
    intercept = settings.fit_intercept
    if choice.name == "primal":
        n_features = feature_count(kernel, X) or 0
        if is_sparse(X):
            require_memory(n_features, 3.0, what="the products of explicit features")
            return PrimalSolver.start(_features(kernel, X), weight, fit_intercept=intercept), None
        require_memory(len(X), 4.0 * n_features / len(X), what="the matrix of explicit features")
        with np.errstate(over="ignore", invalid="ignore"):  # the outcome is looked at
            Phi = np.asarray(kernel.features(X), dtype=float)
            largest = np.abs(Phi).max(initial=0.0) ** 2
        _check_size(largest, kernel)
        return PrimalSolver.start(Phi, weight, fit_intercept=intercept), None
    clipping = settings.indefinite == "clip" and not kernel.mercer
    if choice.name == "spectral" or clipping:
        require_memory(len(X), 4.1 if clipping else 3.1)
    else:
        require_memory(len(X), 1.1 if n_alphas == 1 and kernel.mercer else 2.1)
    K = gram(kernel, X)
    kept = None
    if clipping:
        K, kept = clip(K, weight)
    trusted = kernel.mercer or clipping
    # what centring leaves of a constant is rounding error, on the scale of the matrix before it
    margin = 1e-13 * len(K) * (float(np.abs(K).max()) or 1.0)
    if choice.name == "spectral":
        spectral = SpectralSolver.start(
            K, weight, fit_intercept=intercept, trusted=trusted, tolerance=_rounding(X), margin=margin
        )
        return spectral, kept
    solver = CholeskySolver.start(K, weight, fit_intercept=intercept)
    if not trusted:
        check_positive(solver.prepared, _rounding(X), margin)
    return solver, kept


def gram(kernel: Kernel, X: np.ndarray) -> np.ndarray:
    """Gram matrix of the training rows, checked as far as the kernel cannot be trusted."""
    with np.errstate(over="ignore", invalid="ignore"):  # the outcome is looked at
        try:
            K = kernel._gram(X, X)
        except ValueError as error:
            if X.dtype != object or "could not convert" not in str(error):
                raise
            raise ValueError(
                f"{error}. A numeric part of the kernel {kernel} sees a column of text: restrict that part to"
                f" numeric columns with .on([...]), and leave the text to Categorical()."
            ) from None
        largest = np.abs(K.diagonal()).max() + 0.0 * K.sum()  # no element of a kernel matrix is larger
    _check_size(largest, kernel)
    if not kernel.mercer:
        symmetrise(K, _rounding(X))
    return K


def _check_size(largest: float, kernel: Kernel) -> None:
    """Raise if values of a kernel are not finite, or so large that their sums of squares would not be."""
    if not largest < 1e150:
        raise ValueError(
            f"The kernel {kernel} gives values that are not a number or too large to compute with on these "
            f"data. Rescale the features, or name the kernel by a string such as 'rbf', whose length-scale "
            f"comes from the data."
        )


def alpha_unit(solver: Solver, weight: np.ndarray) -> float:
    """Mean variance of the (centred) kernel over the observations: the unit of ridge strengths.

    One where the kernel is constant on the data, up to rounding.
    """
    if isinstance(solver, CholeskySolver):
        total = float(np.trace(solver.prepared.matrix)) - solver.prepared.tau
    else:
        total = float(solver.values.sum())
    if isinstance(solver, PrimalSolver):
        offset = float(solver.mean @ solver.mean)
    else:
        column_mean = solver.prepared.column_mean
        offset = 0.0 if column_mean is None else abs(float(weight @ column_mean)) / weight.sum()
    unit = total / weight.sum()
    return unit if unit > 64.0 * np.finfo(float).eps * offset else 1.0


def walk_path(solver: Solver, Y: np.ndarray, alphas: np.ndarray, score: Score | None) -> AlphaPath:
    """Evaluate every criterion at every ridge strength, a few at a time to need little memory."""
    step = max(1, int(2**25 // max(8 * Y.size, 1)))
    starts = range(0, len(alphas), step)
    return AlphaPath.join([AlphaPath.of(solver.fits(Y, alphas[i : i + step]), score) for i in starts])


def _choose(path: AlphaPath, settings: Settings, Y: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Best alpha on the path, per output or shared; the largest of those that are as good as the best."""
    criterion = str(settings.criterion)
    values = path.criterion(criterion, Y, weight)
    if not settings.per_output:
        values = np.repeat(values.mean(axis=1, keepdims=True), Y.shape[1], axis=1)
    smallest = values.min(axis=0)
    good = values <= smallest + _AS_GOOD * (1.0 if criterion == "ml" else smallest)
    return path.alphas[::-1][np.argmax(good[::-1], axis=0)]


def _finish(
    kernel: Kernel,
    solver: Solver,
    kept: np.ndarray | None,
    Y: np.ndarray,
    weight: np.ndarray,
    alpha: np.ndarray,
    path: AlphaPath | None,
    choice: Choice,
) -> RidgeFit:
    unique, inverse = np.unique(alpha, return_inverse=True)
    fits = solver.fits(Y, unique, consume=True)
    outputs = np.arange(Y.shape[1])

    def pick(values: np.ndarray) -> np.ndarray:  # (m, n, q) or (m, q) at each output's own alpha
        return values[inverse, :, outputs].T if values.ndim == 3 else values[inverse, outputs]

    def log_likelihood(scale: np.ndarray | None) -> np.ndarray:
        return pick(fits.profile_log_likelihood if scale is None else fits.log_likelihood(scale))

    dual_coef = pick(fits.dual_coef)
    if isinstance(solver, PrimalSolver):
        primal = solver.coefficients(Y, alpha)
        intercept = solver.intercept(Y, primal)
    else:
        primal = None
        intercept = solver.intercept(Y, dual_coef)
        if kept is not None:
            dual_coef = positive_part(dual_coef, kept, weight)
    here = AlphaPath.of(fits)
    criteria = {name: float(pick(here.criterion(name, Y, weight)).mean()) for name in CRITERIA}
    return RidgeFit(
        kernel,
        alpha,
        dual_coef,
        primal,
        intercept,
        pick(fits.residuals),
        fits.slack[inverse].T,
        pick(fits.held_out_residuals),
        pick(fits.scale),
        log_likelihood,
        path,
        choice,
        criteria,
    )


def _primal_count(kernel: Kernel, X: np.ndarray, settings: Settings) -> int | None:
    """Number of explicit features, unless their products would be a dense matrix that is not asked for."""
    count = feature_count(kernel, X)
    many = is_sparse(X) and count is not None and count > _DENSE_FEATURES
    return None if many and settings.solver == "auto" else count


def feature_count(kernel: Kernel, X: np.ndarray) -> int | None:
    """Number of explicit features that the kernel has for these rows, if it has them."""
    if is_sparse(X):  # features of other kernels would not be sparse
        return X.n_columns if isinstance(kernel, Linear) else None
    if X.ndim == 2:
        return kernel.feature_count(X.shape[1])
    return kernel.feature_count(1) if kernel.reads_objects else None


def _rounding(X: np.ndarray) -> float:
    """How far a kernel matrix may be off, relative to its size, before that is more than rounding error."""
    return 3e-4 if X.dtype == np.float32 else 1e-6  # matrices from elsewhere often passed through float32


def _features(kernel: Kernel, X: Any) -> Any:
    """Explicit features, sparse if the rows are."""
    return kernel.features(X)
