"""Fit methods to many random parts of the data: which coefficients and which methods can be relied on."""

import os
import warnings
from collections import Counter
from contextlib import suppress
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed

from pellucid._callers import warn_caller
from pellucid._progress import Deadline, track
from pellucid.effects.stability import Stability
from pellucid.models.stability.checkpoint import Checkpoint, settings_of
from pellucid.models.stability.plan import Data, Plan, Score, make_plan
from pellucid.models.stability.single_split import Outcome, one_split


def stability(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    n_splits: int = 100,
    test_size: float | int = 1 / 3,
    stratify: str | bool = "auto",
    random_state: Any = 0,
    scoring: Score | None = None,
    n_jobs: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    sample_weight: Any = None,
    max_time: float | None = None,
    verbose: int = 0,
) -> Stability:
    """Fit one or several methods to random parts of the data, and test each on the rest.

    Which coefficients keep their sign whatever rows are left out, and which method predicts the left-out rows
    best? All methods see the same splits, so their errors can be compared split by split.

    Parameters
    ----------
    estimator : estimator, or dict of str to estimator or (estimator, dict)
        What to fit: one scikit-learn estimator or pipeline, or several with names. In a pair, the dict holds
        options for ``predict``, such as ``{"how": "kernel"}``. An estimator object that occurs several times
        is fitted once per split.
    X : array-like, sparse matrix or data frame of shape (n, p)
        Rows; the names of columns are kept.
    y : array-like of shape (n,) or (n, outputs), or str
        Targets; a text names the column of ``X`` that has them.
    n_splits : int, default=100
        Number of splits. More give a finer picture of the same spread. A split does not depend on how many
        follow.
    test_size : float or int, default=1/3
        Share (or number) of rows to leave out. Raising it makes the fits differ more from each other.
    stratify : {"auto", True, False}, default="auto"
        Whether both parts have the classes in the same shares; ``"auto"``: for classifiers.
    random_state : int, RandomState instance or None, default=0
        Seed of the splits, and of estimators whose own ``random_state`` is ``None``.
    scoring : callable, optional
        Error measure ``scoring(y_true, y_pred)``, smaller is better. By default the root mean squared error
        (RMSE) of regressors and the misclassification rate of classifiers, with ``sample_weight`` if given.
    n_jobs : int, optional
        Processes. Each uses one thread for linear algebra, also where there is only one process: results do
        not depend on ``n_jobs``.
    checkpoint : path, optional
        An ``.npz`` file that keeps finished splits. The same call resumes from it, also with more splits; a
        call with other data or settings raises an error.
    sample_weight : array-like of shape (n,), optional
        Weights for fits and errors; a ``scoring`` of your own does not see them.
    max_time : float, optional
        Seconds after which no new split is begun: the result has the splits that are done, with a warning.
        With a checkpoint, the same call goes on from there.
    verbose : int, default=0
        With 1, progress and the time left are told in log files and notebooks as well as on terminals.

    Returns
    -------
    result : Stability
        Coefficients, errors and ranks; print it, or draw it with :func:`pellucid.plot_stability`. Interrupted
        from the keyboard, the call returns the splits that are finished, with a warning.

    Notes
    -----
    Coefficients are the ``coef_`` of the fitted estimator, of the last step of a pipeline, or of the
    ``best_estimator_`` of a search; methods without one have ``None``. For several classes or outputs they
    are kept as (p, classes) in each split, whichever way round the estimator has them. They are on the scale
    of what the estimator sees: to compare features with each other, begin a pipeline with a
    ``StandardScaler``. A feature that a step of the pipeline has dropped counts as zero. Coefficients behind
    a step without ``get_feature_names_out`` are only numbered.

    Any two training parts share rows. So the spread over splits shows how much depends on *which* of these
    rows were used; it is not a standard error, and the range is not a confidence interval.

    References
    ----------
    Nadeau and Bengio (2003), Inference for the generalization error, Machine Learning 52, on what overlapping
    splits can tell.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Lasso, Ridge
    >>> from pellucid import stability
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> result = stability({"ridge": Ridge(0.1), "lasso": Lasso(1.0)}, X, y, n_splits=20)
    >>> result.coef["ridge"].shape
    (20, 10)
    >>> [name for name, flag in zip(X, result.constant_sign["lasso"]) if flag]
    ['bmi', 's5']
    """
    plan, data = make_plan(estimator, X, y, test_size, stratify, random_state, scoring, sample_weight)
    if n_splits < 1 or n_splits != int(n_splits):
        raise ValueError(f"n_splits must be a positive integer, got {n_splits!r}.")
    plan.rows(0, data.y)  # refuses a test_size or stratify that does not suit the data
    keeper = None
    if checkpoint is not None:
        if not isinstance(random_state, Integral):
            raise ValueError("A checkpoint can only be resumed if random_state is an integer.")
        keeper = Checkpoint(Path(checkpoint), settings_of(plan, data))
    finished = _run(plan, data, int(n_splits), n_jobs, keeper, Deadline(max_time), verbose)
    return _assemble(plan, data, finished)


def _run(
    plan: Plan,
    data: Data,
    n_splits: int,
    n_jobs: int | None,
    keeper: Checkpoint | None,
    deadline: Deadline,
    verbose: int,
) -> list[Outcome]:
    finished = [] if keeper is None else keeper.load()[:n_splits]
    left = range(len(finished), n_splits)
    work: Any
    if not left:
        return finished
    if effective_n_jobs(n_jobs) == 1:
        work = (one_split(plan, data, split) for split in left)
    else:
        work = Parallel(n_jobs=n_jobs, prefer="processes", return_as="generator")(
            delayed(one_split)(plan, data, split) for split in left
        )
    before = len(finished)
    try:
        for outcome in track(work, "stability", len(left), verbose):
            finished.append(outcome)
            if keeper is not None:
                keeper.save_if_due(finished)
            if deadline.over and len(finished) < n_splits:
                _warn_of_rest("Out of time", finished, n_splits)
                break
    except KeyboardInterrupt:
        if not finished:
            raise
        _warn_of_rest("Interrupted", finished, n_splits)
    finally:
        with suppress(Exception), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # joblib tells of the work that is given up
            work.close()
        if keeper is not None and len(finished) > before:
            keeper.save(finished)
    return finished


def _warn_of_rest(why: str, finished: list[Outcome], n_splits: int) -> None:
    message = f"{why}: the result has the {len(finished)} of {n_splits} splits that are done."
    warn_caller(message, UserWarning)


def _assemble(plan: Plan, data: Data, finished: list[Outcome]) -> Stability:
    _repeat_warnings(finished)
    coef: list[np.ndarray | None] = []
    for fit in range(len(plan.estimators)):
        replicates = [outcome.coef[fit] for outcome in finished]
        shapes = {None if one is None else one.shape for one in replicates}
        same = len(shapes) == 1 and all(o.names[fit] == finished[0].names[fit] for o in finished)
        if not same:
            warn_caller(
                f"The method {plan.fit_name(fit)!r} has other coefficients in some splits than in others, so "
                f"they cannot be compared; the result is without them.",
                UserWarning,
            )
        known = [one for one in replicates if one is not None]
        coef.append(np.stack(known) if same and known else None)
    classes = [str(value) for value in np.unique(data.y)] if plan.classify and data.y.ndim == 1 else []
    own = {m.name: finished[0].names[m.fit] for m in plan.methods if coef[m.fit] is not None}
    return Stability(
        methods=[method.name for method in plan.methods],
        coef={method.name: coef[method.fit] for method in plan.methods},
        train_error=np.array([outcome.train_error for outcome in finished]),
        test_error=np.array([outcome.test_error for outcome in finished]),
        names=data.names,
        coef_names={name: names for name, names in own.items() if names != data.names},
        measure=plan.measure,
        classes=classes if any(c is not None and c.shape[2:] == (len(classes),) for c in coef) else [],
    )


def _repeat_warnings(finished: list[Outcome]) -> None:
    """Give each kind of warning once, with the number of splits it came from."""
    first: dict[tuple[str, type[Warning]], str] = {}
    count: Counter[tuple[str, type[Warning]]] = Counter()
    for outcome in finished:
        for method, kind, text in outcome.warned:
            first.setdefault((method, kind), text)
        count.update({(method, kind) for method, kind, _ in outcome.warned})
    for (method, kind), text in first.items():
        of = f"{count[method, kind]} of {len(finished)} splits"
        message = f"Method {method!r}, in {of}: {text}"
        try:
            warning = kind(message)
        except Exception:  # a warning that is made from more than a text
            warning = UserWarning(f"{kind.__name__}: {message}")
        warn_caller(warning)
