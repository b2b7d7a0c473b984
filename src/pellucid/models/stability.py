"""Fit methods to many random parts of the data: which coefficients and which methods can be relied on."""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import re
import time
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from scipy import sparse
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit
from sklearn.pipeline import Pipeline
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import threadpool_limits

from pellucid._progress import track
from pellucid._validation import check_weight
from pellucid.effects.stability import Stability, features_first
from pellucid.kernels.base import column_names

Score = Callable[[Any, Any], float]


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
    y : array-like of shape (n,) or (n, outputs)
        Targets.
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
    ``StandardScaler``. A feature that a step of the pipeline has dropped counts as zero.

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
    plan, data = _plan(estimator, X, y, test_size, stratify, random_state, scoring, sample_weight)
    if n_splits < 1 or n_splits != int(n_splits):
        raise ValueError(f"n_splits must be a positive integer, got {n_splits!r}.")
    plan.rows(
        0, data.y
    )  # a test_size or stratify that does not suit the data: known before anything is fitted
    keeper = None
    if checkpoint is not None:
        if not isinstance(random_state, Integral):
            raise ValueError("A checkpoint can only be resumed if random_state is an integer.")
        keeper = _Checkpoint(Path(checkpoint), _settings(plan, data))
    finished = _run(plan, data, int(n_splits), n_jobs, keeper)
    return _assemble(plan, data, finished)


# --------------------------------------------------------------------------- what to do


@dataclass(frozen=True)
class _Method:
    name: str
    fit: int  # which of the distinct estimators
    options: dict[str, Any]  # for predict


@dataclass(frozen=True)
class _Data:
    X: Any
    y: np.ndarray
    weight: np.ndarray | None
    names: list[str]


@dataclass(frozen=True)
class _Plan:
    estimators: list[Any]
    methods: list[_Method]
    test_size: float | int
    stratify: bool
    seed: int
    scoring: Score | None
    classify: bool

    def seeds(self, split: int) -> tuple[int, int]:
        """Seeds for the rows and for the estimators of one split, whatever the number of splits."""
        first, second = np.random.SeedSequence(self.seed, spawn_key=(split,)).generate_state(2)
        return int(first), int(second >> 1)  # some estimators want 31 bits

    def rows(self, split: int, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Training and test rows of one split."""
        kind = StratifiedShuffleSplit if self.stratify else ShuffleSplit
        splitter = kind(n_splits=1, test_size=self.test_size, random_state=self.seeds(split)[0])
        return next(splitter.split(np.zeros(len(y)), y))

    def fit_name(self, fit: int) -> str:
        """Name of the first method that uses a fit."""
        return next(method.name for method in self.methods if method.fit == fit)

    @property
    def measure(self) -> str:
        """What the errors are called."""
        if self.scoring is not None:
            return getattr(self.scoring, "__name__", type(self.scoring).__name__).replace("<lambda>", "error")
        return "misclassification rate" if self.classify else "RMSE"

    def error(self, y: np.ndarray, predicted: Any, weight: np.ndarray | None) -> float:
        """Error of predictions."""
        if self.scoring is not None:
            return float(self.scoring(y, predicted))
        predicted = np.asarray(predicted)
        if predicted.shape != y.shape:
            predicted = predicted.reshape(y.shape)  # some return one column for one target
        if self.classify:
            return float(np.average(predicted != y, weights=weight))
        return float(np.sqrt(np.mean(np.average((predicted - y) ** 2, axis=0, weights=weight))))


def _plan(
    estimator: Any,
    X: Any,
    y: Any,
    test_size: float | int,
    stratify: str | bool,
    random_state: Any,
    scoring: Score | None,
    sample_weight: Any,
) -> tuple[_Plan, _Data]:
    estimators, methods = _methods(estimator)
    if scoring is not None and not callable(scoring):
        raise TypeError(
            f"scoring must be a function of y_true and y_pred of which smaller values are better, "
            f"got {scoring!r}."
        )
    kinds = [is_classifier(e) for e in estimators]
    if scoring is None and not all(k or is_regressor(e) for k, e in zip(kinds, estimators, strict=True)):
        raise ValueError("A method is neither a classifier nor a regressor: pass scoring.")
    if any(kinds) and not all(kinds):
        raise ValueError("Classifiers and regressors cannot be compared with each other.")
    if not isinstance(stratify, bool | np.bool_) and stratify != "auto":
        raise ValueError(f"stratify must be 'auto', True or False, got {stratify!r}.")
    data = _data(X, y, sample_weight)
    if data.weight is not None:
        for method in methods:
            if not _takes_weights(estimators[method.fit]):
                raise ValueError(f"The method {method.name!r} does not take sample_weight.")
    if isinstance(random_state, Integral):
        seed = int(random_state)
    else:
        seed = int(check_random_state(random_state).randint(2**31 - 1))
    classify = all(kinds)
    stratified = classify if isinstance(stratify, str) else bool(stratify)
    return _Plan(estimators, methods, test_size, stratified, seed, scoring, classify), data


def _methods(estimator: Any) -> tuple[list[Any], list[_Method]]:
    """The distinct estimators, and the methods that use them."""
    if not isinstance(estimator, Mapping):
        inner = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
        estimator = {type(inner).__name__: estimator}
    if not estimator:
        raise ValueError("There are no methods: the dict of estimators is empty.")
    distinct: list[Any] = []
    methods = []
    for name, value in estimator.items():
        options: Any = {}
        if isinstance(value, tuple):
            if len(value) != 2 or not isinstance(value[1], Mapping):
                raise TypeError(
                    f"The method {name!r} must be an estimator, or a pair of it and a dict for predict."
                )
            value, options = value
        if isinstance(value, type) or not (hasattr(value, "fit") and hasattr(value, "predict")):
            raise TypeError(f"The method {name!r} must be an estimator with fit and predict, got {value!r}.")
        place = next((i for i, known in enumerate(distinct) if known is value), len(distinct))
        if place == len(distinct):
            distinct.append(value)
        methods.append(_Method(str(name), place, dict(options)))
    if len({method.name for method in methods}) < len(methods):
        raise ValueError("Two methods have the same name.")
    return distinct, methods


def _data(X: Any, y: Any, sample_weight: Any) -> _Data:
    if isinstance(X, list | tuple):
        with suppress(ValueError):  # rows of different lengths stay as they are
            as_array = np.asarray(X)
            X = as_array if as_array.ndim == 2 and as_array.dtype.kind in "fiub" else X
    targets = np.asarray(y)
    if targets.ndim == 2 and targets.shape[1] == 1:
        targets = targets[:, 0]
    if targets.ndim not in (1, 2):
        raise ValueError(f"y must have one or two dimensions, got {targets.ndim}.")
    check_consistent_length(X, targets)
    weight = None if sample_weight is None else check_weight(sample_weight, len(targets))
    return _Data(X, targets, weight, _feature_names(X))


def _feature_names(X: Any) -> list[str]:
    names = column_names(X)
    if names is not None:
        return names
    shape: tuple[int, ...] = getattr(X, "shape", ())
    p = shape[1] if len(shape) == 2 else 0
    labels = list(getattr(X, "columns", range(p)))  # wavelengths are often numbers, which column_names skips
    return [f"x{c}" for c in range(p)] if labels == list(range(p)) else [str(label) for label in labels]


def _last(estimator: Any) -> Any:
    return estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator


def _takes_weights(estimator: Any) -> bool:
    parameters = inspect.signature(_last(estimator).fit).parameters.values()
    return any(p.name == "sample_weight" or p.kind is p.VAR_KEYWORD for p in parameters)


# --------------------------------------------------------------------------- one split


@dataclass(frozen=True)
class _Outcome:
    """What one split gave: errors by method; coefficients and their names by fit; warnings by method."""

    train_error: list[float]
    test_error: list[float]
    coef: list[np.ndarray | None]
    names: list[list[str]]
    warned: list[tuple[str, type[Warning], str]]


def _one_split(plan: _Plan, data: _Data, split: int) -> _Outcome:
    train, test = plan.rows(split, data.y)
    outcome = _Outcome([], [], [], [], [])
    models = []
    with threadpool_limits(1):
        for fit, estimator in enumerate(plan.estimators):
            with _blame(plan.fit_name(fit), split, "fit"), _noted(plan.fit_name(fit), outcome):
                model = _fitted(estimator, data, train, plan.seeds(split)[1])
                coef, names = _coefficients(model, data.names)
                models.append(model)
                outcome.coef.append(coef)
                outcome.names.append(names)
        for method in plan.methods:
            with _blame(method.name, split, "predict"), _noted(method.name, outcome):
                for rows, errors in ((train, outcome.train_error), (test, outcome.test_error)):
                    X, y = _safe_split(plan.estimators[method.fit], data.X, data.y, rows, train)
                    predicted = models[method.fit].predict(X, **method.options)
                    weight = None if data.weight is None else data.weight[rows]
                    errors.append(plan.error(y, predicted, weight))
    return outcome


def _fitted(estimator: Any, data: _Data, train: np.ndarray, seed: int) -> Any:
    model = clone(estimator)
    unseeded = {
        key: seed
        for key, value in model.get_params(deep=True).items()
        if value is None and key.split("__")[-1] == "random_state"
    }
    if unseeded:
        model.set_params(**unseeded)
    X, y = _safe_split(estimator, data.X, data.y, train)
    if data.weight is None:
        return model.fit(X, y)
    key = f"{model.steps[-1][0]}__sample_weight" if isinstance(model, Pipeline) else "sample_weight"
    return model.fit(X, y, **{key: data.weight[train]})


@contextmanager
def _blame(method: str, split: int, doing: str) -> Iterator[None]:
    """Say in an error which method, which split."""
    try:
        yield
    except Exception as error:
        kind = next((k for k in (ValueError, TypeError, MemoryError) if isinstance(error, k)), RuntimeError)
        text = f"Method {method!r} failed in split {split} ({doing}): {type(error).__name__}: {error}"
        raise kind(text) from error


@contextmanager
def _noted(method: str, outcome: _Outcome) -> Iterator[None]:
    """Collect warnings: a hundred splits would otherwise repeat them a hundred times."""
    with warnings.catch_warnings(record=True) as caught:
        yield
    outcome.warned.extend((method, note.category, str(note.message)) for note in caught)


def _coefficients(model: Any, names: list[str]) -> tuple[np.ndarray | None, list[str]]:
    """Coefficients of a fitted model as (p,) or (p, classes), and their names."""
    own: list[str] | None = names
    while isinstance(model, Pipeline) or hasattr(model, "best_estimator_"):
        if isinstance(model, Pipeline):
            own = _names_after(model, own)
            model = model.steps[-1][1]
        else:
            model = model.best_estimator_
    coef = getattr(model, "coef_", None)
    if coef is None:
        return None, []
    coef = np.asarray(coef.toarray() if sparse.issparse(coef) else coef, dtype=float)
    if coef.ndim not in (1, 2):
        return None, []
    of_pellucid = type(model).__module__.split(".")[0] == "pellucid"
    coef = features_first(coef, getattr(model, "n_features_in_", None), rows=of_pellucid)
    if own is None or len(own) != len(coef):
        own = names if len(names) == len(coef) else [f"coef{j}" for j in range(len(coef))]
    places = {name: j for j, name in enumerate(names)}
    if own != names and len(places) == len(names) and len(set(own)) == len(own) and set(own) <= set(places):
        whole = np.zeros((len(names), *coef.shape[1:]))  # a step has dropped or reordered features
        whole[[places[name] for name in own]] = coef
        return whole, names
    return coef, own


def _names_after(pipeline: Pipeline, names: list[str] | None) -> list[str] | None:
    """Names of what the last step sees; ``None`` where a step cannot tell."""
    if names is None or len(pipeline.steps) == 1:
        return names
    try:
        return [str(name) for name in pipeline[:-1].get_feature_names_out(names)]
    except Exception:  # names are a courtesy, whatever the transformers of others do
        return None


# --------------------------------------------------------------------------- all splits


def _run(
    plan: _Plan, data: _Data, n_splits: int, n_jobs: int | None, keeper: _Checkpoint | None
) -> list[_Outcome]:
    finished = [] if keeper is None else keeper.load()[:n_splits]
    left = range(len(finished), n_splits)
    work: Any
    if not left:
        return finished
    if effective_n_jobs(n_jobs) == 1:
        work = (_one_split(plan, data, split) for split in left)
    else:
        work = Parallel(n_jobs=n_jobs, prefer="processes", return_as="generator")(
            delayed(_one_split)(plan, data, split) for split in left
        )
    before = len(finished)
    try:
        for outcome in track(work, "stability", len(left)):
            finished.append(outcome)
            if keeper is not None:
                keeper.save_if_due(finished)
    except KeyboardInterrupt:
        if not finished:
            raise
        warnings.warn(
            f"Interrupted: the result has the {len(finished)} of {n_splits} splits that are done.",
            UserWarning,
            stacklevel=3,
        )
    finally:
        with suppress(Exception):
            work.close()
        if keeper is not None and len(finished) > before:
            keeper.save(finished)
    return finished


def _assemble(plan: _Plan, data: _Data, finished: list[_Outcome]) -> Stability:
    _repeat_warnings(finished)
    coef: list[np.ndarray | None] = []
    for fit in range(len(plan.estimators)):
        replicates = [outcome.coef[fit] for outcome in finished]
        shapes = {None if one is None else one.shape for one in replicates}
        same = len(shapes) == 1 and all(o.names[fit] == finished[0].names[fit] for o in finished)
        if not same:
            warnings.warn(
                f"The method {plan.fit_name(fit)!r} has other coefficients in some splits than in others, so "
                f"they cannot be compared; the result is without them.",
                UserWarning,
                stacklevel=3,
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


def _repeat_warnings(finished: list[_Outcome]) -> None:
    """Give each kind of warning once, with the number of splits it came from."""
    first: dict[tuple[str, type[Warning]], str] = {}
    count: dict[tuple[str, type[Warning]], int] = {}
    for outcome in finished:
        for method, kind, text in outcome.warned:
            first.setdefault((method, kind), text)
        for key in {(method, kind) for method, kind, _ in outcome.warned}:
            count[key] = count.get(key, 0) + 1
    for (method, kind), text in first.items():
        of = f"{count[method, kind]} of {len(finished)} splits"
        message = f"Method {method!r}, in {of}: {text}"
        try:
            warning = kind(message)
        except Exception:  # a warning that is made from more than a text
            warning = UserWarning(f"{kind.__name__}: {message}")
        warnings.warn(warning, stacklevel=4)


# --------------------------------------------------------------------------- checkpoint

_EVERY = 5.0  # seconds between two writings


class _Checkpoint:
    """Finished splits in a file: plain arrays, and a header in JSON that says what they belong to."""

    def __init__(self, path: Path, settings: dict[str, str]) -> None:
        self.path, self.settings = path, settings
        folder = path.absolute().parent
        if path.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
            raise ValueError(
                f"The checkpoint {str(path)!r} cannot be written: no such folder, or no permission."
            )
        self.fingerprint = hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()
        self.due = time.monotonic() + _EVERY

    def load(self) -> list[_Outcome]:
        """Return the splits in the file, none if there is no file."""
        if not self.path.exists():
            return []
        try:
            with np.load(self.path, allow_pickle=False) as file:
                arrays = {key: file[key] for key in file.files}
            header = json.loads(str(arrays["header"]))
            fingerprint, settings = header["fingerprint"], header["settings"]
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise ValueError(f"{str(self.path)!r} is not a checkpoint of stability(): {error}") from error
        if fingerprint != self.fingerprint:
            other = [key for key, value in self.settings.items() if settings.get(key) != value]
            raise ValueError(
                f"The checkpoint {str(self.path)!r} belongs to another call: {', '.join(other)} differ. "
                f"Delete the file, or name another one."
            )
        return self._unpack(header["names"], arrays)

    def save_if_due(self, finished: list[_Outcome]) -> None:
        """Save every few seconds, less often where writing takes long."""
        if time.monotonic() < self.due:
            return
        start = time.monotonic()
        self.save(finished)
        took = time.monotonic() - start
        self.due = time.monotonic() + max(_EVERY, 20.0 * took)

    def save(self, finished: list[_Outcome]) -> None:
        """Replace the file in one step, so that a crash leaves the old one or the new one."""
        names, arrays = self._pack(finished)
        header = {"fingerprint": self.fingerprint, "settings": self.settings, "names": names}
        part = self.path.with_name(f"{self.path.name}.{os.getpid()}.part")
        try:
            with open(part, "wb") as file:
                np.savez(file, header=np.array(json.dumps(header)), **arrays)
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, self.path)
        except OSError as error:
            warnings.warn(f"The checkpoint could not be written: {error}", UserWarning, stacklevel=2)
        finally:
            part.unlink(missing_ok=True)

    def _pack(self, finished: list[_Outcome]) -> tuple[list[list[str]], dict[str, Any]]:
        """Coefficients of a fit, end to end, with shapes: (-1, 0) for none, (p, 0) for one dimension."""
        lists: dict[tuple[str, ...], int] = {}
        arrays: dict[str, Any] = {
            "train_error": np.array([outcome.train_error for outcome in finished]),
            "test_error": np.array([outcome.test_error for outcome in finished]),
        }
        for fit in range(len(finished[0].coef)):
            coef = [outcome.coef[fit] for outcome in finished]
            arrays[f"coef{fit}"] = np.concatenate([np.zeros(0) if c is None else c.ravel() for c in coef])
            arrays[f"shape{fit}"] = np.array([(-1, 0) if c is None else (*c.shape, 0)[:2] for c in coef])
            arrays[f"names{fit}"] = np.array(
                [lists.setdefault(tuple(outcome.names[fit]), len(lists)) for outcome in finished]
            )
        return [list(names) for names in lists], arrays

    def _unpack(self, names: list[list[str]], arrays: dict[str, np.ndarray]) -> list[_Outcome]:
        finished = [
            _Outcome(train.tolist(), test.tolist(), [], [], [])
            for train, test in zip(arrays["train_error"], arrays["test_error"], strict=True)
        ]
        for fit in range(sum(key.startswith("shape") for key in arrays)):
            start = 0
            places = zip(finished, arrays[f"shape{fit}"].tolist(), arrays[f"names{fit}"], strict=True)
            for outcome, (p, classes), place in places:
                size = max(p, 0) * max(classes, 1)
                values = arrays[f"coef{fit}"][start : start + size]
                start += size
                outcome.coef.append(None if p < 0 else values.reshape((p, classes) if classes else (p,)))
                outcome.names.append(names[place])
        return finished


def _settings(plan: _Plan, data: _Data) -> dict[str, str]:
    """What a result depends on, apart from the number of splits: data as hashes, the rest in words."""
    return {
        "X": _digest(data.X) + _digest(np.array(data.names)),
        "y": _digest(data.y),
        "sample_weight": _digest(data.weight),
        "methods": _describe([(m.name, plan.estimators[m.fit], m.options) for m in plan.methods]),
        "test_size": repr(plan.test_size),
        "stratify": repr(plan.stratify),
        "random_state": repr(plan.seed),
        "scoring": _describe(plan.scoring),
    }


def _digest(values: Any) -> str:
    """Hash of an array or table by its values."""
    if sparse.issparse(values):
        table = values.tocsr()
        return "".join(_digest(part) for part in (table.data, table.indices, table.indptr))
    try:
        array = np.asarray(values)
    except ValueError:  # rows of different lengths
        array = np.empty(len(values), dtype=object)
        array[:] = list(values)
    if array.dtype.kind == "O":
        content = "\x1f".join(_describe(value) for value in array.ravel().tolist()).encode()
    else:
        content = np.ascontiguousarray(array).tobytes()
    return hashlib.sha256(f"{array.dtype.str} {array.shape} ".encode() + content).hexdigest()[:16]


def _describe(value: Any) -> str:
    """Text that is the same for the same settings in another process."""
    if hasattr(value, "get_params") and not isinstance(value, type):
        inner = ", ".join(f"{key}={_describe(v)}" for key, v in sorted(value.get_params(deep=False).items()))
        return f"{type(value).__module__}.{type(value).__qualname__}({inner})"
    if isinstance(value, np.ndarray) or sparse.issparse(value):
        return _digest(value)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_describe(item) for item in value) + "]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_describe(key)}: {_describe(item)}" for key, item in value.items()) + "}"
    text = repr(value)
    code = getattr(value, "__code__", None)
    if code is not None:
        text += f" {code.co_code.hex()} {code.co_consts!r} {code.co_names!r}"
    return re.sub(r" at 0x[0-9a-fA-F]+", "", text)
