"""A model as a JSON document that any program can score with, and back."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from pellucid.export.scoring.model import ScoringModel
from pellucid.export.scoring.parts import Feature, Line, Products, Response, ScoreAxis, ScoreTerm, Waves
from pellucid.export.scoring.read import scoring_of

FORMAT = "pellucid-scores"
VERSION = 1
_LINKS = ("identity", "exp", "expit", "logistic", "shares", "softmax", "ordinal", "ordered", "none")


def to_json(model: Any, path: str | os.PathLike[str] | None = None) -> str:
    """Write a model of terms or coefficients as a JSON document to score with.

    The document holds what prediction needs and no more; to keep a model with everything that was fitted, use
    :func:`~pellucid.save`. The guide's page on exports describes the fields.

    Parameters
    ----------
    model : estimator
        A fitted additive, sparse additive, ISK or interpretable model, or one with a linear kernel.
    path : str or path, optional
        File to write.

    Returns
    -------
    str
        The document.

    Examples
    --------
    >>> import numpy as np, pellucid
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(200, 2))
    >>> model = pellucid.SparseAdditiveRegressor(0.01, n_basis=4).fit(X, X[:, 0] ** 2)
    >>> again = pellucid.export.from_json(pellucid.to_json(model))
    >>> bool(np.allclose(again.predict(X), model.predict(X)))
    True
    """
    text = json.dumps(document(scoring_of(model, "to_json")), ensure_ascii=False, allow_nan=False)
    if path is not None:
        Path(path).write_text(text + "\n", encoding="utf-8")
    return text


def from_json(source: str | bytes | os.PathLike[str]) -> ScoringModel:
    """Read what :func:`~pellucid.to_json` wrote, as a model that predicts.

    Parameters
    ----------
    source : str, bytes or path
        The document itself, or a path object that names a file.

    Returns
    -------
    ScoringModel
    """
    if isinstance(source, os.PathLike):
        source = Path(source).read_text(encoding="utf-8")
    try:
        content = json.loads(source)
    except ValueError as error:
        raise ValueError(f"This is no JSON document: {error}.") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f"This is no document of the format {FORMAT!r}.")
    if content.get("version") != VERSION:
        raise ValueError(
            f"The document has version {content.get('version')!r}; this pellucid reads {VERSION}."
        )
    try:
        return _read(content)
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise ValueError(f"The document is not complete: {type(error).__name__}: {error}.") from None


# --------------------------------------------------------------------- writing
def document(scoring: ScoringModel) -> dict[str, Any]:
    """A scoring model as dictionaries, lists, numbers and texts."""
    response = scoring.response
    classes = response.classes and [
        v if isinstance(v, str | bool | int | float) else str(v) for v in response.classes
    ]
    head = {"format": FORMAT, "version": VERSION, "model": scoring.model}
    return head | {
        "features": [_lists(vars(feature)) for feature in scoring.features],
        "axes": [_axis(axis, scoring.warps.get(a)) for a, axis in enumerate(scoring.axes)],
        "terms": [_term(scoring, term) for term in scoring.terms],
        "intercept": scoring.intercept.tolist(),
        "link": response.link,
        "slope": response.slope,
        "classes": classes,
        "single": response.single,
        "thresholds": list(response.thresholds),
        "ranks": list(response.ranks),
    }


def _lists(values: dict[str, Any]) -> dict[str, Any]:
    """Arrays and tuples as lists."""
    plain = {key: v.tolist() if isinstance(v, np.ndarray) else v for key, v in values.items()}
    return {key: list(v) if isinstance(v, tuple) else v for key, v in plain.items()}


def _axis(axis: ScoreAxis, warp: np.ndarray | None) -> dict[str, Any]:
    made = _lists(vars(axis)) | ({"knots": None} if axis.is_levels else {})
    del made["levels"]
    return made if warp is None else made | {"warp": warp.tolist()}


def _term(scoring: ScoringModel, term: ScoreTerm) -> dict[str, Any]:
    made = {"kind": type(term).__name__.lower(), "features": list(scoring.features_of(term))} | _lists(
        vars(term)
    )
    if isinstance(term, Products):
        made["factors"] = [F.T.tolist() for F in term.factors]
    made.pop("feature", None)
    return made


# --------------------------------------------------------------------- reading
def _read(content: dict[str, Any]) -> ScoringModel:
    features = tuple(
        Feature(str(f["name"]), _texts(f["levels"]), bool(f["dates"])) for f in content["features"]
    )
    intercept = _array(content["intercept"], 1)
    axes = tuple(_read_axis(a, features) for a in content["axes"])
    warps = {k: _array(a["warp"], 1) for k, a in enumerate(content["axes"]) if "warp" in a}
    for k, warp in warps.items():
        _same(len(warp), axes[k].size + 1)
    terms = tuple(_read_term(t, axes, features, len(intercept)) for t in content["terms"])
    if any(a not in warps for term in terms if isinstance(term, Waves) for a in term.axes):
        raise ValueError("The document has waves on an axis without a warp.")
    if content["link"] not in _LINKS:
        raise ValueError(f"The document has the link {content['link']!r}, which is not one of {_LINKS}.")
    classes = None if content["classes"] is None else tuple(content["classes"])
    response = _read_response(content, classes, len(intercept))
    return ScoringModel(str(content["model"]), features, axes, warps, terms, intercept, response)


def _read_response(content: dict[str, Any], classes: tuple[Any, ...] | None, q: int) -> Response:
    thresholds = tuple(_array(content.get("thresholds", []), 1).tolist())
    ranks = tuple(int(rank) for rank in content.get("ranks", []))
    if content["link"] == "ordered":
        _same(sorted(ranks), list(range(q)))
    if content["link"] == "ordinal":
        _same(len(thresholds) + 1, len(classes or ()))
    slope, single = float(content["slope"]), bool(content["single"])
    return Response(content["link"], classes, slope, single, thresholds, ranks)


def _texts(levels: list[Any] | None) -> tuple[str, ...] | None:
    return None if levels is None else tuple(map(str, levels))


def _read_axis(axis: dict[str, Any], features: tuple[Feature, ...]) -> ScoreAxis:
    knots = np.empty(0) if axis["knots"] is None else _array(axis["knots"], 1)
    if np.any(np.diff(knots) <= 0):
        raise ValueError("The document has knots that do not increase.")
    levels = len(features[axis["feature"]].levels or ()) if axis["knots"] is None else 0
    missing = None if axis["missing"] is None else int(axis["missing"])
    made = ScoreAxis(int(axis["feature"]), knots, levels, int(axis["size"]), missing, int(axis["other"]))
    if not all(0 <= place <= made.size for place in (made.other, missing or 0, len(knots), levels)):
        raise ValueError("The document has an axis whose points are not there.")
    return made


def _read_term(
    term: dict[str, Any], axes: tuple[ScoreAxis, ...], features: tuple[Feature, ...], q: int
) -> ScoreTerm:
    name, kind = str(term["name"]), term["kind"]
    known, key = (features, "features") if kind == "line" else (axes, "axes")
    of = tuple(int(number) for number in term[key])
    if not all(0 <= number < len(known) for number in of):
        raise ValueError(f"The term {name!r} is on {key} that are not there.")
    if kind == "line":
        coef = _array(term["coef"], 1)
        _same(len(coef), q)
        return Line(name, of[0], coef)
    if kind == "products":
        outputs = np.array(term["outputs"], dtype=np.intp)
        factors = tuple(_array(F, 2).T.reshape(-1, len(outputs)) for F in term["factors"])
        if len(outputs):
            _same([len(F) for F in factors], [axes[a].size + 1 for a in of])
        return Products(name, of, factors, outputs)
    if kind != "waves":
        raise ValueError(f"The term {name!r} is of the kind {kind!r}, which is unknown.")
    omega, cos, sin = (_array(term[key], 2) for key in ("omega", "cos", "sin"))
    _same(omega.shape, (len(cos), len(of)))
    _same(cos.shape, sin.shape)
    return Waves(name, of, omega, cos, sin, _array(term["constant"], 1))


def _array(values: Any, ndim: int) -> np.ndarray:
    array = np.array(values, dtype=float)
    if array.size == 0:
        array = array.reshape((0,) * ndim)
    if array.ndim != ndim or not np.all(np.isfinite(array)):
        raise ValueError("The document has numbers that are not finite, or lists of uneven length.")
    return array


def _same(got: Any, wanted: Any) -> None:
    if got != wanted:
        raise ValueError(f"The document has tables of the wrong size: {got} where {wanted} is right.")
