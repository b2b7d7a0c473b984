"""A model as numbers that a page can compute with: the same arithmetic here and in the page.

A *page model* is a dictionary of plain lists: an intercept per output, and terms. A term is ``linear`` in one
feature, a ``table`` over one or two axes that is interpolated linearly between knots and looked up at levels,
or a sum of ``waves``; a kernel model has a ``kernel`` instead of terms, or ``parts`` if it counts
words. A link turns the sum into the prediction. The page evaluates it in JavaScript; :func:`evaluate` does it
in NumPy, which is how it is checked against ``predict`` before it goes into a page.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid.report.packing import unpack
from pellucid.report.similarity import similarity
from pellucid.report.words import word_values

TOLERANCE = 1e-10
"""Largest difference from ``predict``, relative to the size of the predictions, that is allowed."""

PageModel = dict[str, Any]


def linear_model(coef: np.ndarray, intercept: np.ndarray, center: np.ndarray) -> PageModel:
    """Page model of ``x @ coef + intercept``, with contributions that are zero at ``center``."""
    coef = coef.reshape(len(coef), -1)
    start = np.atleast_1d(intercept) + center @ coef
    terms = [
        {"type": "linear", "features": [j], "coef": coef[j].tolist(), "center": float(center[j])}
        for j in range(len(coef))
    ]
    return {"intercept": start.tolist(), "terms": terms}


def evaluate(model: PageModel, cells: list[list[Any]]) -> tuple[np.ndarray, np.ndarray]:
    """Contributions of shape (n, terms, outputs) and linear predictors of shape (n, outputs)."""
    model = _unpacked(model)
    start = np.asarray(model["intercept"], dtype=float)
    out = np.zeros((len(cells), len(model["terms"]), len(start)))
    for i, row in enumerate(cells):
        for t, term in enumerate(model["terms"]):
            inputs = [row[j] for j in term["features"]]
            out[i, t] = _waves(model, term, inputs) if term["type"] == "waves" else _term(term, inputs)
    eta = start + out.sum(axis=1)
    if "kernel" in model:
        rows, dual = np.asarray(model["rows"]), np.asarray(model["dual"])
        eta = eta + np.array([similarity(model["kernel"], np.array(x, float), rows) @ dual for x in cells])
    for part in model.get("parts", ()):
        eta = eta + _parts(part, cells, len(start))
    return out, eta


def _parts(part: dict[str, Any], cells: list[list[Any]], n_outputs: int) -> np.ndarray:
    """What the words of texts add, or the similarity of numbers to those of the training rows."""
    if part["kind"] == "words":
        weights = dict(zip(part["names"], part["weights"], strict=True))
        texts = [row[part["column"]] for row in cells]
        return np.array([word_values(part["words"], text, weights, n_outputs) for text in texts])
    X = [np.array([row[j] for j in part["columns"]], dtype=float) for row in cells]
    return np.array([similarity(part["kernel"], x, part["rows"]) @ part["dual"] for x in X])


def _unpacked(part: Any) -> Any:
    """Packed arrays as arrays, however deep they are."""
    if isinstance(part, dict):
        return (
            unpack(part)
            if "f8" in part or "left" in part
            else {key: _unpacked(value) for key, value in part.items()}
        )
    return [_unpacked(value) for value in part] if isinstance(part, list) else part


def _term(term: dict[str, Any], inputs: list[Any]) -> np.ndarray:
    if term["type"] == "linear":
        return (inputs[0] - term["center"]) * np.asarray(term["coef"])
    table = np.asarray(term["values"], dtype=float)
    for axis, value in zip(term["axes"], inputs, strict=True):
        places = _place(axis, value)
        if not places:  # a level that was never seen
            return np.zeros(table.shape[-1])
        table = np.sum([weight * table[place] for place, weight in places], axis=0)
    return table


def _waves(model: PageModel, term: dict[str, Any], inputs: list[Any]) -> np.ndarray:
    """Sum of waves in one or two warped features."""
    warps = [model["warps"][j] for j in term["features"]]
    u = [_warped(warp, value) for warp, value in zip(warps, inputs, strict=True)]
    omega = np.asarray(model["omega"])
    total = -np.asarray(term["mean"])
    for part in term["parts"]:
        phase = np.zeros(len(omega))
        for side, name in enumerate(("first", "second")):
            if part[name] is not None:
                phase = phase + omega[:, side] * u[part[name]]
        w = part["weights"]
        wave = np.cos(phase) @ np.asarray(term["re"][w]) + np.sin(phase) @ np.asarray(term["im"][w])
        total = total + part["sign"] * wave
    return total


def _warped(warp: dict[str, Any], value: Any) -> float:
    if value is None:
        raise ValueError("This feature has no place for missing values.")
    if "levels" in warp:
        known = value in warp["levels"]
        value = warp["positions"][warp["levels"].index(value)] if known else warp["unknown"]
    return float(np.interp(value, warp["knots"], warp["values"]))


def _place(axis: dict[str, Any], value: Any) -> list[tuple[int, float]]:
    """Positions on an axis and their weights."""
    if value is None:
        if axis["missing"] is None:
            raise ValueError("This feature has no place for missing values.")
        return [(axis["missing"], 1.0)]
    if "levels" in axis:
        known = axis["levels"].index(value) if value in axis["levels"] else axis["other"]
        return [] if known is None else [(known, 1.0)]
    knots = axis["knots"]
    last = len(knots) - 1
    if last < 0:  # training had no value at all
        return [(axis["empty"], 1.0)]
    if last == 0:
        return [(0, 1.0)]
    at = min(max(int(np.searchsorted(knots, value, side="right")) - 1, 0), last - 1)
    share = (value - knots[at]) / (knots[at + 1] - knots[at])
    share = min(max(share, 0.0), 1.0) if axis.get("clamp", True) else share
    return [(at, 1.0 - share), (at + 1, share)]


def _softmax(eta: np.ndarray) -> np.ndarray:
    raised = np.exp(eta - eta.max(axis=1, keepdims=True))
    return raised / raised.sum(axis=1, keepdims=True)


def _sigmoid(eta: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(-eta))


LINKS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "identity": lambda eta: eta,
    "log": lambda eta: np.exp(np.clip(eta, -708.0, 709.0)),
    "logit": _sigmoid,
    "softmax": _softmax,
    "each": lambda eta: _sigmoid(eta) / _sigmoid(eta).sum(axis=1, keepdims=True),
}
"""Inverse links by name: what the page does with the linear predictor."""


def find_link(eta: np.ndarray, wanted: np.ndarray, choices: tuple[str, ...]) -> tuple[str, float] | None:
    """The link under which ``eta`` gives ``wanted``, with the largest relative difference; or nothing."""
    size = max(float(np.abs(wanted).max(initial=0.0)), 1e-300)
    for name in choices:
        with np.errstate(over="ignore", invalid="ignore"):
            gap = float(np.abs(LINKS[name](eta) - wanted).max(initial=0.0)) / size
        if gap <= TOLERANCE:
            return name, gap
    return None
