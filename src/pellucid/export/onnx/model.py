"""A model as an ONNX graph."""

import json
import os
from typing import Any

import numpy as np

from pellucid.export.onnx import terms
from pellucid.export.onnx.graph import Graph, load_onnx
from pellucid.export.onnx.kernels import gram
from pellucid.export.scoring.model import ScoringModel
from pellucid.export.scoring.parts import Response
from pellucid.export.scoring.read import class_scores, feature_names, fitted_model, response_of, scoring_of
from pellucid.kernels import Linear
from pellucid.models.glm_fit.base import KernelGLMBase
from pellucid.models.interpretable.base import InterpretableBase
from pellucid.models.ridge.base import KernelRidgeBase

_MOST_NUMBERS = 20_000_000  # of training rows in a graph: 160 MB, well below what a file can hold


def to_onnx(model: Any, path: str | os.PathLike[str] | None = None) -> Any:
    """Write a model as an ONNX graph, in double precision throughout.

    Parameters
    ----------
    model : estimator
        A fitted additive, sparse additive, ISK or interpretable model, or a kernel model of moderate size on
        numeric features with a kernel of distances or dot products.
    path : str or path, optional
        File to write.

    Returns
    -------
    onnx.ModelProto
        Input: ``X`` of shape (n, n_features) if all features are numbers; otherwise one input of shape (n, 1)
        per column, under its name, of type double or, for categories, string. A missing value is NaN, or the
        empty string. Outputs: ``prediction`` of a regression; ``label`` and ``probabilities`` (or ``scores``,
        where there are no probabilities) of a classifier; and ``contributions`` of shape (n, n_terms), or
        (n, n_terms, n_outputs), where the model has terms. An underscore is added to the name of an output
        that a column has as well. The names of features and terms are in the metadata, as JSON.

    Notes
    -----
    Where a model has no place for missing values, NaN gives NaN. A category that was never seen counts as in
    ``predict``. Offset and exposure are not part of the graph.

    Examples
    --------
    >>> import numpy as np, pellucid
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(200, 2))
    >>> model = pellucid.KernelRidge().fit(X, X[:, 0] ** 2)
    >>> graph = pellucid.to_onnx(model)  # doctest: +SKIP
    >>> session = onnxruntime.InferenceSession(graph.SerializeToString())  # doctest: +SKIP
    >>> (prediction,) = session.run(["prediction"], {"X": X})  # doctest: +SKIP
    """
    onnx = load_onnx()
    model = fitted_model(model)
    built = _of_kernel(model) if _is_kernel_sum(model) else _of_terms(scoring_of(model, "to_onnx"))
    if path is not None:
        onnx.save_model(built, os.fspath(path))
    return built


def _is_kernel_sum(model: Any) -> bool:
    """Whether the model is a sum over its training rows and no more."""
    kernel = isinstance(model, KernelRidgeBase | KernelGLMBase) and not isinstance(model, InterpretableBase)
    return kernel and type(model.kernel_) is not Linear


# ------------------------------------------------------------------------ terms
def _of_terms(scoring: ScoringModel) -> Any:
    names = [feature.name for feature in scoring.features]
    numeric = all(feature.levels is None for feature in scoring.features)
    taken = ["X"] if numeric else names
    if "" in taken or len(set(taken)) < len(taken):
        raise ValueError("ONNX needs a name of its own for every column.")
    g = Graph(taken)
    if numeric:
        inputs = [g.tensor("X", "DOUBLE", len(names))]
        columns = [g.column("X", j) if j in scoring.used else "" for j in range(len(names))]
    else:
        kinds = ["DOUBLE" if feature.levels is None else "STRING" for feature in scoring.features]
        inputs = [g.tensor(name, kind, 1) for name, kind in zip(names, kinds, strict=True)]
        columns = names
    q = scoring.n_outputs
    if not scoring.terms:
        scores = g.plus(g.filled("X" if numeric else columns[0], q, 0.0), scoring.intercept)
        outputs = _respond(g, scoring.response, scores, q)
    else:
        parts = terms.contributions(g, scoring, columns)
        outputs = _respond(g, scoring.response, g.plus(g.sum(parts, 1), scoring.intercept), q)
        if q == 1:
            name, last = g("Squeeze", parts, g.constant([2], np.int64), name="contributions"), []
        else:
            name, last = g("Identity", parts, name="contributions"), [q]
        outputs.append(g.tensor(name, "DOUBLE", len(scoring.terms), *last))
    return g.model(inputs, outputs, _notes(scoring.model, names, scoring.response, scoring.term_names))


# ---------------------------------------------------------------------- kernels
def _of_kernel(model: Any) -> Any:
    rows = model.X_fit_[:]
    if (
        getattr(rows, "ndim", 0) != 2
        or rows.dtype == object
        or getattr(model.kernel_, "vectors", True) is False
    ):
        raise ValueError(
            f"to_onnx needs numeric features, and the kernel {model.kernel_} compares something else."
        )
    rows = np.asarray(rows, dtype=float)
    if rows.size > _MOST_NUMBERS:
        raise ValueError(
            f"This model carries {len(rows)} training rows of {rows.shape[1]} features, too many for a graph "
            f"(at most {_MOST_NUMBERS} numbers): fit it with n_components, or fit an additive model."
        )
    g = Graph(["X"])
    K = gram(g, model.kernel_, "X", rows)
    dual, intercept = class_scores(model, model._dual, model._intercept)
    scores = g.plus(g("MatMul", K, g.constant(dual)), intercept)
    response = response_of(model)
    outputs = _respond(g, response, scores, dual.shape[1])
    inputs = [g.tensor("X", "DOUBLE", rows.shape[1])]
    return g.model(inputs, outputs, _notes(type(model).__name__, feature_names(model), response, []))


# --------------------------------------------------------------------- response
def _respond(g: Graph, response: Response, scores: str, q: int) -> list[Any]:
    """Outputs for scores of shape (n, q)."""
    if response.classes is None:
        scores = _ordered(g, scores, response.ranks) if response.link == "ordered" else scores
        mean = g("Exp", g.between(scores, -708.0, 709.0)) if response.link == "exp" else scores
        mean = _expit(g, scores) if response.link == "expit" else mean
        if response.single:
            return [g.tensor(g.flat(mean, "prediction"), "DOUBLE")]
        return [g.tensor(g("Identity", mean, name="prediction"), "DOUBLE", q)]
    if response.link == "ordinal":
        scores, q = _ordinal(g, scores, response.thresholds), len(response.classes)
    if q == 1:
        best = g("Cast", g("Greater", g.flat(scores), g.constant(0.0)), to=g.onnx.TensorProto.INT64)
    else:
        best = g("ArgMax", scores, axis=1, keepdims=0)
    dtype, kind = _kind_of(response.classes)
    labels = [str(label) for label in response.classes] if dtype is object else response.classes
    label = g.tensor(g("Gather", g.constant(labels, dtype), best, name="label"), kind)
    if not response.has_probabilities:
        return [label, g.tensor(g("Identity", scores, name="scores"), "DOUBLE", q)]
    P = g("Identity", _probabilities(g, response, scores), name="probabilities")
    return [label, g.tensor(P, "DOUBLE", len(response.classes))]


def _probabilities(g: Graph, response: Response, scores: str) -> str:
    scores = scores if response.slope == 1.0 else g.times(scores, response.slope)
    if response.link == "ordinal":
        return scores
    if response.link == "softmax":
        return g("Softmax", scores, axis=1)
    one, p = g.constant(1.0), _expit(g, scores)
    if response.link == "logistic":
        return g("Concat", g("Sub", one, p), p, axis=1)
    return g("Div", p, g.sum(p, 1, keep=True))


def _ordinal(g: Graph, scores: str, thresholds: tuple[float, ...]) -> str:
    """Probabilities of ordered classes: differences of those to be at or below each."""
    below = _expit(g, g("Sub", g.constant(np.array([thresholds])), scores))
    ends = [g.filled(scores, 1, end) for end in (0.0, 1.0)]
    return g("Sub", g("Concat", below, ends[1], axis=1), g("Concat", ends[0], below, axis=1))


def _expit(g: Graph, scores: str) -> str:
    one = g.constant(1.0)
    return g("Div", one, g("Add", one, g("Exp", g("Neg", g.between(scores, -700.0, 700.0)))))


def _ordered(g: Graph, scores: str, ranks: tuple[int, ...]) -> str:
    """Scores of each row rearranged so that they rise with the levels."""
    falling = g("TopK", scores, g.constant([len(ranks)], np.int64), axis=1, n_outputs=2)
    return g.column(falling, len(ranks) - 1 - np.array(ranks))


def _kind_of(classes: tuple[Any, ...]) -> tuple[type, str]:
    """Type of the labels, of NumPy and of ONNX."""
    kinds = {type(label) for label in classes}
    if kinds == {bool}:
        return np.bool_, "BOOL"
    if kinds == {int}:
        return np.int64, "INT64"
    return (np.float64, "DOUBLE") if kinds <= {int, float} else (object, "STRING")


def _notes(model: str, names: list[str], response: Response, terms: list[str]) -> dict[str, str]:
    content = {"features": names, "terms": terms, "classes": [str(c) for c in response.classes or ()]}
    return {"model": model} | {key: json.dumps(value) for key, value in content.items()}
