"""What both ISK estimators share: parameters, the two phases, effects and summary."""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from pellucid._callers import warn_caller
from pellucid._docs import store_parameters
from pellucid._progress import Watch
from pellucid.data.folds import Fold
from pellucid.data.parameters import check_count
from pellucid.effects import Effect, Importances, Summary, Term, term_name
from pellucid.exceptions import SearchWarning
from pellucid.features.fourier import resolve_kernel
from pellucid.features.scaling import SCALINGS, Scaler, fit_scaler
from pellucid.linalg import limited_threads, row_blocks
from pellucid.losses import Squared
from pellucid.models.common.terms import Targets, TermModel, squared_in
from pellucid.models.isk.dense import MOST, Dense, fit_dense
from pellucid.models.isk.effects import Densities, grids_of, term_effects
from pellucid.models.isk.ridge import Setup, check_memory
from pellucid.models.isk.rows import Rows
from pellucid.models.isk.sparse import Sparse, Task, fit_sparse


class ISKBase(TermModel):
    r"""Shared machinery of :class:`ISKRegressor` and :class:`ISKClassifier`.

    Parameters
    ----------
    sigma : float or "cv", default="cv"
        Length-scale of the kernel, in units of scaled features. Larger is smoother.
    n_components : int, default=20
        Number d of Fourier features per pair; an odd one is raised by one, as they come as cosine and sine.
        More follow the kernel more closely; time grows with the square.
    alpha : float or "cv", default="cv"
        Ridge strength of phase 1; larger is smoother. The published λ is ``alpha / n_rows``.
    sparse_alpha : float or "cv", default="cv"
        Strength :math:`\tilde\lambda` of phase 2; larger keeps fewer terms.
    l1_ratio : float in (0, 1] or "cv", default="cv"
        Share :math:`\rho` of the absolute values in the penalty of phase 2.
    scaling : {"robust", "standard", "minmax", "rank"}, default="robust"
        How columns are put on one scale. "robust" averages the rank and a linear scale without its tails.
        Values outside the training range count as its ends, whatever the scaling.
    kernel : str or Kernel, default="rbf"
        "rbf", "matern", "laplacian", "rational_quadratic", or a kernel that has a spectral sampler.
    cv : int, splitter or iterable, default=5
        Folds for all that is to be chosen, stratified for classes; each row must be held out exactly once.
    max_iter : int, default=200
        Most steps of iterative solvers.
    random_state : int, RandomState instance or None, default=0
        Source of the frequencies.
    weights : {"auto", "counts", "precision"}, default="auto"
        What ``sample_weight`` says. As "counts" a weight of 2 is the row twice, and larger weights all over
        lower the relative strength of ``alpha``; as "precision" only ratios matter, as of survey weights or
        inverse variances. "auto" counts unless the mean weight is below 0.1 or above 10, and then says so.
    max_time : float, optional
        Seconds after which no further sigma is tried: the best so far is taken, with a
        :class:`~pellucid.exceptions.SearchWarning`. What has begun is finished, so a fit takes longer.
    verbose : int, default=0
        With 1, progress and the time left are told in log files and notebooks as well as on terminals.

    Attributes
    ----------
    terms_ : list of tuples
        Column numbers of the terms that phase 2 kept: one for a main effect, two for an interaction.
    term_names_ : list of str
        Their names.
    effects_ : dict from name to Effect
        Their curves and surfaces on grids of the original features, in units of the linear predictor;
        :meth:`effects` can purify them.
    sigma_, alpha_, sparse_alpha_, l1_ratio_ : float
        Values in use.
    path_ : SparsePath
        How many terms phase 2 keeps along its path, and the held-out loss.
    trials_ : list of tuples (sigma, alpha, error)
        Held-out squared errors of phase 1.
    solver_ : {"primal", "dual"}
        Whether phase 1 worked on features or on rows, whichever are fewer.
    """

    _chosen = ("sigma", "alpha", "sparse_alpha", "l1_ratio")
    _least_features = 2

    def __init__(
        self,
        sigma: Any = "cv",
        *,
        n_components: int = 20,
        alpha: Any = "cv",
        sparse_alpha: Any = "cv",
        l1_ratio: Any = "cv",
        scaling: str = "robust",
        kernel: Any = "rbf",
        cv: Any = 5,
        max_iter: int = 200,
        random_state: Any = 0,
        weights: str = "auto",
        max_time: float | None = None,
        verbose: int = 0,
    ) -> None:
        store_parameters(self, locals())

    # ----------------------------------------------------------------- entry
    def _check_parameters(self) -> None:
        check_count(self.n_components, "n_components", 1)
        check_count(self.max_iter, "max_iter", 1)
        if self.scaling not in SCALINGS:
            raise ValueError(f"scaling must be one of {', '.join(SCALINGS)}; got {self.scaling!r}.")
        for name in self._chosen:
            value, largest = getattr(self, name), 1.0 if name == "l1_ratio" else np.finfo(float).max
            if isinstance(value, str) and value == "cv":
                continue
            number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
            if not number or not 0 < value <= largest:
                kind = "number in (0, 1]" if name == "l1_ratio" else "positive number"
                raise ValueError(f"{name} must be a {kind} or 'cv', got {value!r}.")

    # ------------------------------------------------------------------- fit
    def _fit(self, X: np.ndarray, weight: np.ndarray, targets: Targets, folds: list[Fold]) -> None:
        signed = np.column_stack(targets.columns)
        if not isinstance(targets.loss, Squared):
            signed = 2.0 * signed - 1.0
        self._scaler: Scaler = fit_scaler(X, self.scaling, weight, self.columns_, signed)
        rows = Rows(X, self._scaler, weight, _fold_numbers(folds, len(X)))
        kernel, rng = resolve_kernel(self.kernel), check_random_state(self.random_state)
        omega = kernel.sample_frequencies((self.n_components + 1) // 2, 2, rng)
        setup = Setup(rows, signed - weight @ signed / weight.sum(), omega)
        check_memory(setup, products=isinstance(targets.loss, Squared))
        watch = Watch("trying sigma", MOST if self.sigma == "cv" else None, self.max_time, self.verbose)
        with limited_threads(X):
            dense = fit_dense(
                setup, targets.columns, targets.loss, self.sigma, self.alpha, self.max_iter, watch
            )
            watch.close()
            if watch.cut and self.sigma == "cv":
                warn_caller(
                    "The time was up before all values of sigma were tried; the best so far is used.",
                    SearchWarning,
                )
            if not dense.converged:
                warn_caller(
                    f"Phase 1 did not converge in {dense.n_iter} steps: raise max_iter or alpha.",
                    ConvergenceWarning,
                )
            task = Task(rows, targets.columns, targets.loss, dense, targets.unit)
            sparse = fit_sparse(task, self.sparse_alpha, self.l1_ratio)
        self._store(rows, dense, sparse)
        self._store_intercept(sparse.intercept + targets.origin)
        self.trials_ = [
            (sigma, alpha, float(squared_in(error, targets.unit))) for sigma, alpha, error in dense.trials
        ]

    def _store(self, rows: Rows, dense: Dense, sparse: Sparse) -> None:
        self.sigma_, self.alpha_ = dense.sigma, dense.alpha
        self.sparse_alpha_, self.l1_ratio_ = sparse.sparse_alpha, sparse.l1_ratio
        self.solver_, self.n_iter_ = dense.solver, dense.n_iter
        pairs = dense.pairs
        every: list[Term] = [(p,) for p in range(pairs.D)] + [tuple(pair) for pair in pairs.pairs]
        own = self._names()
        names = tuple(term_name(term, own) for term in every)
        self.path_ = replace(sparse.path, names=names)
        kept = np.flatnonzero(np.any(sparse.beta != 0, axis=1))
        self.terms_ = [every[k] for k in kept]
        self.term_names_ = [names[k] for k in kept]
        self._pairs = type(pairs)(pairs.omega, pairs.D, np.float64)
        self._W = dense.W
        self._beta = sparse.beta[kept]
        self._mean, self._sd = sparse.mean[kept], sparse.sd[kept]
        size = np.abs(self._beta).max(axis=1, initial=0.0)
        self.importances_ = Importances(tuple(self.term_names_), size, measure="|β|")
        self.n_rows_ = len(rows)
        self._grids = grids_of(self._scaler, self._names())
        self._densities = Densities.count(rows, self._grids, self.terms_)

    # ----------------------------------------------------------- predictions
    def _levels(self) -> list[tuple[Any, ...] | None]:
        return [None if warp.levels is None else tuple(warp.levels) for warp in self._scaler.columns]

    def _terms_at(self, X: np.ndarray) -> np.ndarray:
        out = np.empty((len(X), len(self.terms_), len(self._intercept)))
        for block in row_blocks(len(X), 4.0 * self._pairs.row_bytes):
            factors = self._pairs.factors(self._scaler.apply(X[block]))
            for c in range(len(self._intercept)):
                parts = self._pairs.components(factors, self._W[:, c], self.terms_)
                out[block, :, c] = self._beta[:, c] * (parts - self._mean[:, c]) / self._sd[:, c]
        return out

    # --------------------------------------------------------------- effects
    def effects(self, *, purify: bool = False, against: str = "marginals") -> dict[str, Effect]:
        """The fitted function of each term on a grid, in the units of the data.

        Parameters
        ----------
        purify : bool, default=False
            The split of the published method leaves part of the main effects in the interactions. ``True``
            moves the conditional means of each surface into the curves: the sum stays the same, and each part
            is orthogonal to the others.
        against : {"marginals", "joint"}, default="marginals"
            The distribution under which surfaces get mean zero along each axis: the product of the two
            features' own distributions, or their joint one as far as the grid resolves it.

        Returns
        -------
        effects : dict from the name of a term to its Effect
        """
        check_is_fitted(self)
        return term_effects(self, against if purify else None)

    @property
    def effects_(self) -> dict[str, Effect]:
        """Effects of the terms as the published method splits them; see :meth:`effects`."""
        return self.effects()

    def summary(self) -> Summary:
        """The model on half a screen: what was chosen, and the terms that matter most."""
        check_is_fitted(self)
        D = self.n_features_in_
        facts: list[tuple[str, object]] = [
            ("rows", self.n_rows_),
            ("features", D),
            ("kernel", str(resolve_kernel(self.kernel))),
            ("scaling", self.scaling),
            ("dense model", f"{self._pairs.F} features of {self._pairs.K} pairs, {self.solver_}"),
            *((name, self._how(name)) for name in self._chosen),
            ("terms", f"{len(self.terms_)} of {D + self._pairs.K}"),
            ("most important", ", ".join(self.importances_.top(6)) or "none: all terms were shrunk away"),
            *self._class_facts(np.abs(self._beta)),
        ]
        return Summary(type(self).__name__, facts)


def _fold_numbers(folds: list[Fold], n: int) -> np.ndarray | None:
    """Number of the fold that holds each row out; ``None`` where nothing is chosen by folds."""
    if not folds:
        return None
    held_out = np.concatenate([test for _, test in folds])
    if len(np.unique(held_out)) < len(held_out):
        raise ValueError("cv must hold each row out exactly once, but its folds overlap.")
    if len(held_out) < n or len(folds) < 2:
        raise ValueError("cv must hold each row out exactly once, in at least two folds.")
    fold = np.empty(n, dtype=np.int16)
    for f, (_, test) in enumerate(folds):
        fold[test] = f
    return fold
