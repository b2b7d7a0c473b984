"""stability(): the same splits for all, whatever their number or that of processes; nothing fitted twice."""

import importlib
import json
import warnings

import numpy as np
import pytest
from oracles import blobs, curve
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge, SGDRegressor
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, PolynomialFeatures, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeRegressor

from pellucid import KernelRidge
from pellucid.kernels import RBF
from pellucid.models.stability.repeated_splits import stability

CALLS = []  # what the fake estimators have seen


class Recorder(RegressorMixin, BaseEstimator):
    """Least squares that keeps a record, and is interrupted or fails when told to."""

    def __init__(self, tag="a", stop_after=None, fail_at=None, warn=False):
        self.tag = tag
        self.stop_after = stop_after
        self.fail_at = fail_at
        self.warn = warn

    def fit(self, X, y):
        done = sum(call[:2] == ("fit", self.tag) for call in CALLS)
        if self.stop_after is not None and done >= self.stop_after:
            raise KeyboardInterrupt
        if self.fail_at is not None and done >= self.fail_at:
            raise ArithmeticError("the moon is in the way")
        if self.warn and done % 2:
            warnings.warn(f"careful, {done}", FutureWarning, stacklevel=2)
        CALLS.append(("fit", self.tag, tuple(np.asarray(y))))
        self.coef_ = np.linalg.lstsq(np.asarray(X), np.asarray(y), rcond=None)[0]
        return self

    def predict(self, X, shift=0.0):
        CALLS.append(("predict", self.tag, shift))
        return np.asarray(X) @ self.coef_ + shift


@pytest.fixture(autouse=True)
def _no_calls():
    CALLS.clear()


def fits(tag):
    return [call[2] for call in CALLS if call[:2] == ("fit", tag)]


def close(one, other):  # tables of another layout in memory are added up in another order
    assert np.allclose(one.test_error, other.test_error, rtol=1e-10)
    assert np.allclose(one.coef["Ridge"], other.coef["Ridge"], rtol=1e-10)


def equal(one, other):
    assert np.array_equal(one.train_error, other.train_error)
    assert np.array_equal(one.test_error, other.test_error)
    assert list(one.coef) == list(other.coef)
    for name, coef in one.coef.items():
        assert np.array_equal(coef, other.coef[name]) if coef is not None else other.coef[name] is None


# ---------------------------------------------------------------- splits


def test_all_methods_see_the_same_splits():
    X, y = curve(30)
    stability({"one": Recorder("a"), "two": Recorder("b")}, X, y, n_splits=4)
    assert len(fits("a")) == 4
    assert fits("a") == fits("b")
    assert len(set(fits("a"))) == 4
    assert {len(rows) for rows in fits("a")} == {20}


def test_a_split_does_not_depend_on_how_many_follow():
    X, y = curve(30)
    few = stability(Ridge(), X, y, n_splits=2)
    many = stability(Ridge(), X, y, n_splits=5)
    assert np.array_equal(few.coef["Ridge"], many.coef["Ridge"][:2])
    assert np.array_equal(few.test_error, many.test_error[:2])


def test_random_state():
    X, y = curve(30)
    first = stability(Ridge(), X, y, n_splits=2)
    equal(first, stability(Ridge(), X, y, n_splits=2, random_state=np.int64(0)))
    assert not np.array_equal(
        first.test_error, stability(Ridge(), X, y, n_splits=2, random_state=1).test_error
    )
    generator = np.random.RandomState
    equal(
        stability(Ridge(), X, y, n_splits=2, random_state=generator(5)),
        stability(Ridge(), X, y, n_splits=2, random_state=generator(5)),
    )


def test_estimators_without_a_seed_are_seeded_anew_in_every_split():
    X, y = curve(40)
    tree = DecisionTreeRegressor(max_features=1)
    result = stability(tree, X, y, n_splits=3)
    equal(result, stability(tree, X, y, n_splits=3))
    assert tree.random_state is None
    seeded = stability(DecisionTreeRegressor(max_features=1, random_state=3), X, y, n_splits=3)
    assert not np.array_equal(seeded.test_error, result.test_error)


def test_processes_change_nothing_and_name_what_fails():
    X, y = curve(40, 3)
    methods = {"ridge": Ridge(), "tree": DecisionTreeRegressor(), "kernel": KernelRidge()}
    equal(stability(methods, X, y, n_splits=4), stability(methods, X, y, n_splits=4, n_jobs=2))
    # which of the splits that run at the same time is the first to fail is up to the system
    with pytest.raises(ValueError, match=r"'bad' failed in split [0-3] \(fit\): InvalidParameterError"):
        stability({"good": Ridge(), "bad": Ridge(alpha=-1.0)}, X, y, n_splits=4, n_jobs=2)


@pytest.mark.parametrize(("stratify", "same"), [("auto", True), (True, True), (False, False)])
def test_classes_keep_their_shares(stratify, same):
    X, y = blobs(3, n=60)
    seen = []

    class Counter(DummyClassifier):
        def fit(self, X, y, sample_weight=None):
            seen.append(tuple(np.bincount(y, minlength=3)))
            return super().fit(X, y)

    stability(Counter(), X, y, n_splits=4, stratify=stratify, test_size=15)
    assert {sum(counts) for counts in seen} == {45}
    assert (set(seen) == {(15, 15, 15)}) == same


# ---------------------------------------------------------------- errors of methods


def test_regression_against_refits_by_hand():
    X, y = curve(30, 3)
    result = stability({"one": Recorder("a")}, X, y, n_splits=4)
    for split, rows in enumerate(fits("a")):
        train = np.isin(y, rows)
        coef = np.linalg.lstsq(X[train], y[train], rcond=None)[0]
        assert np.allclose(result.coef["one"][split], coef)
        for part, errors in ((train, result.train_error), (~train, result.test_error)):
            assert np.isclose(errors[split, 0], np.sqrt(np.mean((y[part] - X[part] @ coef) ** 2)))
    assert result.measure == "RMSE"


def test_classification_with_names_as_classes():
    X, y = blobs(2, n=60, spread=0.3)
    labels = np.array(["yes", "no"])[y]
    result = stability({"logistic": LogisticRegression(), "svc": SVC()}, X, labels, n_splits=5)
    assert result.measure == "misclassification rate"
    assert result.coef["logistic"].shape == (5, 2)
    assert result.coef["svc"] is None
    assert np.allclose(result.test_error * 20, np.round(result.test_error * 20))
    assert np.all((result.test_error >= 0) & (result.test_error < 0.5))


def test_a_measure_of_ones_own():
    X, y = curve(30)
    result = stability(Ridge(), X, y, n_splits=3, scoring=mean_absolute_error)
    assert result.measure == "mean_absolute_error"
    assert np.all(result.test_error < stability(Ridge(), X, y, n_splits=3).test_error)
    assert stability(Ridge(), X, y, n_splits=1, scoring=lambda t, p: 7.0).test_error == 7.0


def test_weights_go_into_fits_and_errors():
    X, y = curve(40)
    weight = np.random.default_rng(0).integers(1, 4, size=40).astype(float)
    plain = stability(Ridge(), X, y, n_splits=3)
    weighted = stability(Ridge(), X, y, n_splits=3, sample_weight=weight)
    assert not np.allclose(plain.coef["Ridge"], weighted.coef["Ridge"])
    equal(plain, stability(Ridge(), X, y, n_splits=3, sample_weight=np.ones(40)))
    scaled = make_pipeline(FunctionTransformer(), Ridge())
    assert np.allclose(
        stability(scaled, X, y, n_splits=3, sample_weight=weight).coef["Ridge"], weighted.coef["Ridge"]
    )
    with pytest.raises(ValueError, match="'near' does not take sample_weight"):
        stability({"near": KNeighborsRegressor()}, X, y, sample_weight=weight)


# ---------------------------------------------------------------- what is fitted


def test_pairs_share_one_fit():
    X, y = curve(30)
    model = Recorder("a")
    methods = {"plain": model, "shifted": (model, {"shift": 5.0}), "other": (Recorder("b"), {"shift": 1.0})}
    result = stability(methods, X, y, n_splits=4)
    assert len(fits("a")) == len(fits("b")) == 4
    assert result.coef["plain"] is result.coef["shifted"]
    assert np.all(result.test_error[:, 1] > result.test_error[:, 0] + 1)
    assert not hasattr(model, "coef_")


def test_a_frame_keeps_its_names():
    pandas = pytest.importorskip("pandas")
    X, y = curve(30, 3)
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    result = stability(Ridge(), frame, pandas.Series(y), n_splits=3)
    assert list(result.names) == ["a", "b", "c"]
    assert list(result.frame().index) == ["a", "b", "c"]
    close(result, stability(Ridge(), X, y, n_splits=3))
    assert list(stability(Ridge(), X, y, n_splits=1).names) == ["x0", "x1", "x2"]
    waves = pandas.DataFrame(X, columns=[1100, 1102, 1104])
    assert list(stability(Ridge(), waves, y, n_splits=1).names) == ["1100", "1102", "1104"]
    assert list(stability(Ridge(), pandas.DataFrame(X), y, n_splits=1).names) == ["x0", "x1", "x2"]


def test_polars_sparse_and_lists():
    polars = pytest.importorskip("polars")
    X, y = curve(30, 3)
    plain = stability(Ridge(), X, y, n_splits=2)
    close(plain, stability(Ridge(), polars.DataFrame(X, schema=["a", "b", "c"]), y, n_splits=2))
    equal(plain, stability(Ridge(), X.tolist(), y.tolist(), n_splits=2))
    equal(plain, stability(Ridge(), X, y[:, None], n_splits=2))
    assert stability(Ridge(), sparse.csr_matrix(X), y, n_splits=2).coef["Ridge"].shape == (2, 3)


def test_pipelines_name_their_coefficients():
    X, y = curve(40, 2)
    methods = {
        "scaled": make_pipeline(StandardScaler(), Ridge()),
        "square": make_pipeline(PolynomialFeatures(2, include_bias=False), Ridge()),
        "nameless": make_pipeline(FunctionTransformer(lambda X: np.hstack([X, X**3])), Ridge()),
        "searched": GridSearchCV(make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": [1.0]}, cv=3),
    }
    result = stability(methods, X, y, n_splits=3)
    assert list(stability(methods["scaled"], X, y, n_splits=1).methods) == ["Ridge"]
    assert result.names_of("scaled") == ["x0", "x1"]
    assert result.names_of("square") == ["x0", "x1", "x0^2", "x0 x1", "x1^2"]
    assert result.names_of("nameless") == ["coef0", "coef1", "coef2", "coef3"]
    assert np.array_equal(result.coef["scaled"], result.coef["searched"])
    assert result.coef["square"].shape == (3, 5)


def test_dropped_features_count_as_zero():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 6))
    y = 3 * X[:, 4] + rng.normal(size=40)
    result = stability(make_pipeline(SelectKBest(f_regression, k=2), Ridge()), X, y, n_splits=10)
    coef = result.coef["Ridge"]
    assert coef.shape == (10, 6)
    assert np.all(np.count_nonzero(coef, axis=1) == 2)
    assert np.array_equal(np.flatnonzero(result.constant_sign["Ridge"]), [4])


def test_several_classes_have_a_third_axis():
    X, y = blobs(3, n=60, p=4)

    class Rows(ClassifierMixin, BaseEstimator):  # features in rows
        def fit(self, X, y):
            inner = LogisticRegression().fit(X, y)
            self.classes_, self.inner_, self.coef_ = inner.classes_, inner, inner.coef_.T
            self.n_features_in_ = X.shape[1]
            return self

        def predict(self, X):
            return self.inner_.predict(X)

    result = stability({"columns": LogisticRegression(), "rows": Rows()}, X, y, n_splits=3)
    assert result.coef["columns"].shape == (3, 4, 3)
    assert np.array_equal(result.coef["columns"], result.coef["rows"])
    assert result.classes == ["0", "1", "2"]
    assert result.frame("rows", output=2).shape[0] == 4


def test_several_targets():
    X, Y = curve(30, 3, q=2)
    result = stability(LinearRegression(), X, Y, n_splits=2)
    assert result.coef["LinearRegression"].shape == (2, 3, 2)
    assert result.test_error.shape == (2, 1)


def test_precomputed_kernels_are_split_both_ways():
    X, y = curve(40)
    K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    plain = stability(KernelRidge("precomputed", alpha=0.1), K, y, n_splits=2)
    assert np.all(plain.test_error < 0.5)


def test_coefficients_that_change_their_number_are_left_out():
    X, y = curve(30)

    class Growing(Recorder):
        def fit(self, X, y):
            super().fit(X, y)
            self.coef_ = np.ones(2 + len(CALLS))
            return self

        def predict(self, X, shift=0.0):
            return np.zeros(len(X))

    with pytest.warns(UserWarning, match="'Growing' has other coefficients in some splits"):
        result = stability(Growing(), X, y, n_splits=3)
    assert result.coef["Growing"] is None
    assert result.test_error.shape == (3, 1)


def test_the_estimators_of_this_package():
    import pellucid

    X, y = blobs(2, n=60, p=3)
    model = pellucid.InterpretableKernelClassifier(alpha=0.1, certify=0)
    methods = {"kernel": (model, {"how": "kernel"}), "linear": (model, {"how": "linear"})}
    result = stability(methods, X, y, n_splits=3)
    assert result.coef["linear"].shape == (3, 3)
    assert np.all(result.test_error < 0.5)


# ---------------------------------------------------------------- interruption and checkpoints


def test_an_interrupted_run_returns_what_is_done():
    X, y = curve(30)
    whole = stability({"one": Recorder("whole")}, X, y, n_splits=5)
    with pytest.warns(UserWarning, match="3 of 5 splits"):
        part = stability({"one": Recorder("a", stop_after=3)}, X, y, n_splits=5)
    assert part.n_splits == 3
    assert np.array_equal(part.test_error, whole.test_error[:3])
    assert np.array_equal(part.coef["one"], whole.coef["one"][:3])


def test_nothing_done_is_an_interruption():
    with pytest.raises(KeyboardInterrupt):
        stability(Recorder("a", stop_after=0), *curve(30), n_splits=3)


def test_resume(tmp_path):
    path = tmp_path / "splits.npz"
    X, y = curve(30)
    model = Recorder("a", stop_after=2)
    methods = {"one": model, "far": (model, {"shift": 1.0}), "near": KNeighborsRegressor()}
    options = {"n_splits": 5, "checkpoint": path}
    with pytest.warns(UserWarning, match="2 of 5 splits"):
        part = stability(methods, X, y, **options)
    CALLS.clear()  # the fake estimator lets two more pass
    with pytest.warns(UserWarning, match="4 of 5 splits"):
        more = stability(methods, X, y, **options)
    assert len(fits("a")) == 2
    CALLS.clear()
    result = stability(methods, X, y, **options)
    assert len(fits("a")) == 1
    assert np.array_equal(part.test_error, result.test_error[:2])
    assert np.array_equal(more.test_error, result.test_error[:4])
    CALLS.clear()
    equal(result, stability(methods, X, y, **options))
    assert CALLS == []  # all there
    fewer = stability(methods, X, y, n_splits=2, checkpoint=path)
    assert np.array_equal(fewer.coef["one"], result.coef["one"][:2])
    stability(methods, X, y, n_splits=6, checkpoint=str(path))
    assert len(fits("a")) == 1  # more splits go on from there
    assert [file.name for file in tmp_path.iterdir()] == ["splits.npz"]
    methods["one"] = model.set_params(stop_after=None)
    CALLS.clear()
    equal(result, stability(methods, X, y, n_splits=5))


def test_a_checkpoint_holds_no_pickles(tmp_path):
    X, y = blobs(3, n=45, p=4)
    path = tmp_path / "splits.npz"
    methods = {"many": LogisticRegression(), "few": DummyClassifier()}
    first = stability(methods, X, y, n_splits=3, checkpoint=path)
    equal(first, stability(methods, X, y, n_splits=3, checkpoint=path))
    with np.load(path, allow_pickle=False) as file:
        header = json.loads(str(file["header"]))
        assert all(file[key].dtype.kind != "O" for key in file.files)
        assert file["test_error"].shape == (3, 2)
    assert header["settings"]["test_size"] == repr(1 / 3)


def test_finished_splits_survive_a_failure(tmp_path):
    path = tmp_path / "splits.npz"
    X, y = curve(30)
    with pytest.raises(RuntimeError, match=r"'one' failed in split 2 \(fit\): ArithmeticError: the moon"):
        stability({"one": Recorder("a", fail_at=2)}, X, y, n_splits=5, checkpoint=path)
    with np.load(path) as file:
        assert len(file["test_error"]) == 2


def test_splits_are_written_while_others_run(tmp_path, monkeypatch):
    module = importlib.import_module("pellucid.models.stability.checkpoint")
    monkeypatch.setattr(module, "SAVE_EVERY", -1e9)
    path = tmp_path / "splits.npz"
    lengths = []

    class Watcher(Recorder):
        def fit(self, X, y):
            if path.exists():
                with np.load(path) as file:
                    lengths.append(len(file["test_error"]))
            return super().fit(X, y)

    stability(Watcher(), *curve(30), n_splits=2, checkpoint=path)
    assert lengths == [1]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"X": 1.0}, "X"),
        ({"y": 1.0}, "y"),
        ({"estimator": {"ridge": Ridge(2.0)}}, "methods"),
        ({"estimator": {"other": Ridge()}}, "methods"),
        ({"random_state": 1}, "random_state"),
        ({"test_size": 0.5}, "test_size"),
        ({"sample_weight": 2.0}, "sample_weight"),
        ({"scoring": mean_absolute_error}, "scoring"),
    ],
)
def test_another_call_does_not_resume(tmp_path, change, named):
    X, y = curve(30)
    call = {"estimator": {"ridge": Ridge()}, "X": X, "y": y, "n_splits": 1, "checkpoint": tmp_path / "c.npz"}
    stability(**call)
    change = {key: call[key] + value if key in ("X", "y") else value for key, value in change.items()}
    with pytest.raises(ValueError, match=f"belongs to another call: {named} differ"):
        stability(**{**call, **change})


@pytest.mark.parametrize("kind", ["sparse", "mixed", "ragged"])
def test_any_kind_of_rows_has_a_fingerprint(tmp_path, kind):
    pandas = pytest.importorskip("pandas")
    rows, y = curve(30)

    def table(change):
        X = rows.copy()
        X[3, 1] += change
        if kind == "sparse":
            return sparse.csr_matrix(X)
        if kind == "mixed":
            return pandas.DataFrame({"a": X[:, 0], "b": [f"{value:.3f}" for value in X[:, 1]]})
        return [row[: 1 + (i % 2 or i == 3)] for i, row in enumerate(X.tolist())]

    options = {"n_splits": 2, "checkpoint": tmp_path / "c.npz"}
    first = stability(DummyRegressor(), table(0.0), y, **options)
    equal(first, stability(DummyRegressor(), table(0.0), y, **options))
    with pytest.raises(ValueError, match="X differ"):
        stability(DummyRegressor(), table(1.0), y, **options)


def test_settings_that_are_objects_have_a_fingerprint(tmp_path):
    X, y = curve(30)
    options = {"n_splits": 2, "checkpoint": tmp_path / "c.npz"}

    def model(kernel, power=2):
        step = FunctionTransformer(lambda X: X**power if power > 2 else X * X)
        return make_pipeline(step, KernelRidge(kernel, alpha=np.float64(0.5)))

    first = stability(model(RBF([1.0, 2.0])), X, y, **options, scoring=lambda t, p: abs(t - p).max())
    equal(first, stability(model(RBF([1.0, 2.0])), X, y, **options, scoring=lambda t, p: abs(t - p).max()))
    with pytest.raises(ValueError, match="methods differ"):
        stability(model(RBF([1.0, 3.0])), X, y, **options, scoring=lambda t, p: abs(t - p).max())
    with pytest.raises(ValueError, match="scoring differ"):
        stability(model(RBF([1.0, 2.0])), X, y, **options, scoring=lambda t, p: abs(t - p).min())


def test_a_full_disk_costs_the_checkpoint_only(tmp_path, monkeypatch):
    def full(*args):
        raise OSError("No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.warns(UserWarning, match="could not be written: No space left"):
        result = stability(Ridge(), *curve(30), n_splits=2, checkpoint=tmp_path / "c.npz")
    assert result.n_splits == 2
    assert list(tmp_path.iterdir()) == []


def test_bad_checkpoints(tmp_path):
    X, y = curve(30)
    path = tmp_path / "notes.npz"
    for content in (b"not an archive", b"", b"PK\x03\x04broken"):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"is not a checkpoint of stability\(\)"):
            stability(Ridge(), X, y, checkpoint=path)
        assert path.read_bytes() == content
    np.savez(path, a=np.ones(3))
    with pytest.raises(ValueError, match="is not a checkpoint"):
        stability(Ridge(), X, y, checkpoint=path)
    with pytest.raises(ValueError, match="no such folder"):
        stability(Ridge(), X, y, checkpoint=tmp_path / "nowhere" / "c.npz")
    with pytest.raises(ValueError, match="random_state is an integer"):
        stability(Ridge(), X, y, checkpoint=tmp_path / "c.npz", random_state=None)


# ---------------------------------------------------------------- warnings and errors


def test_warnings_are_given_once():
    X, y = curve(30)
    with pytest.warns(FutureWarning) as caught:
        stability({"one": Recorder("a", warn=True), "two": Ridge()}, X, y, n_splits=4)
    assert [str(note.message) for note in caught] == ["Method 'one', in 2 of 4 splits: careful, 1"]
    assert caught[0].filename == __file__


def test_warnings_made_from_more_than_a_text():
    class Picky(UserWarning):
        def __init__(self, text, place):
            super().__init__(f"{text} in {place}")

    class Complaining(Recorder):
        def fit(self, X, y):
            warnings.warn(Picky("dust", "the lens"), stacklevel=2)
            return super().fit(X, y)

    with pytest.warns(UserWarning, match="Picky: Method 'Complaining', in 2 of 2 splits: dust in the lens"):
        stability(Complaining(), *curve(30), n_splits=2)


def test_warnings_that_are_errors_name_the_split():
    X, y = curve(30)
    with pytest.raises(RuntimeError, match=r"'sgd' failed in split 0.*ConvergenceWarning"):
        stability({"sgd": SGDRegressor(max_iter=1)}, X, y, n_splits=2)


def test_what_fails_is_named():
    X, y = curve(30)
    with pytest.raises(ValueError, match=r"Method 'bad' failed in split 0 \(fit\)") as caught:
        stability({"good": Lasso(), "bad": Ridge(alpha=-1.0)}, X, y, n_splits=2)
    assert isinstance(caught.value.__cause__, ValueError)
    with pytest.raises(TypeError, match=r"Method 'b' failed in split 0 \(predict\).*tilt"):
        stability({"a": Ridge(), "b": (Recorder(), {"tilt": 1})}, X, y, n_splits=2)


@pytest.mark.parametrize(
    ("estimator", "options", "kind", "message"),
    [
        ({}, {}, ValueError, "no methods"),
        (Ridge, {}, TypeError, "must be an estimator"),
        (StandardScaler(), {}, TypeError, "with fit and predict"),
        ({"a": (Ridge(), 3)}, {}, TypeError, "pair"),
        ({"a": Ridge(), "b": SVC()}, {}, ValueError, "Classifiers and regressors"),
        ({1: Ridge(), "1": Ridge()}, {}, ValueError, "same name"),
        (Ridge(), {"n_splits": 0}, ValueError, "n_splits"),
        (Ridge(), {"n_splits": 2.5}, ValueError, "n_splits"),
        (Ridge(), {"test_size": 1.5}, ValueError, "test_size"),
        (Ridge(), {"stratify": "yes"}, ValueError, "stratify"),
        (Ridge(), {"stratify": None}, ValueError, "stratify"),
        (Ridge(), {"scoring": "r2"}, TypeError, "smaller values are better"),
        (Ridge(), {"sample_weight": np.ones(3)}, ValueError, "30 rows"),
        (Ridge(), {"random_state": -1}, ValueError, "non-negative"),
    ],
)
def test_bad_settings(estimator, options, kind, message):
    with pytest.raises(kind, match=message):
        stability(estimator, *curve(30), **options)


def test_bad_data():
    X, y = curve(30)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        stability(Ridge(), X, y[:-1])
    with pytest.raises(ValueError, match="one or two dimensions"):
        stability(Ridge(), X, np.ones((30, 1, 2)))
    with pytest.raises(ValueError, match=r"[Ll]east populated class"):
        stability(LogisticRegression(), X, np.arange(30) == 0)

    class Neither(BaseEstimator):
        def fit(self, X, y):
            return self

        def predict(self, X):
            return np.zeros(len(X))

    with pytest.raises(ValueError, match="neither a classifier nor a regressor"):
        stability(Neither(), X, y)
    assert stability(Neither(), X, y, n_splits=1, scoring=mean_absolute_error).test_error.shape == (1, 1)
