"""The page model of kernels that count words: a weight for each word, so that new texts can be typed in.

The page evaluates ``b + Σ_p φ_p(x) w_p`` with the weights ``w_p = Σ_i a_i φ_p(x_i)``, and beside it kernels
of numbers as in :mod:`pellucid.report.page_kernel`. Fragments of molecules and parts of graphs would have to
be found by a program that the page does not have: such models have no page model.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.effects.parts import Summand, summands
from pellucid.kernels import CountedParts
from pellucid.report.packing import pack
from pellucid.report.page_kernel import formula
from pellucid.report.page_model import PageModel
from pellucid.report.similarity import Formula
from pellucid.report.words import word_spec

_MOST_WORDS = 60_000  # weights in a page, some 20 bytes each
_MOST_NUMBERS = 30_000  # of training rows beside them


def parts_model(model: Any) -> PageModel | None:
    """Weights of words of a fitted model, or nothing if the page could not find or hold them."""
    train, dual = model.X_fit_[:], np.asarray(model._dual, dtype=float)
    columns = np.arange(train.shape[1])[None, :] if train.ndim == 2 else np.zeros(1, dtype=int)
    parts = []
    for term in summands(model.kernel_):
        part = _words(term, columns, train, dual) or _numbers(term, columns, train, dual)
        if part is None:
            return None
        parts.append(part)
    return {"intercept": np.asarray(model._intercept, dtype=float).tolist(), "terms": [], "parts": parts}


def _words(term: Summand, columns: np.ndarray, train: np.ndarray, dual: np.ndarray) -> dict[str, Any] | None:
    kernel = term.kernel
    spec = word_spec(kernel) if isinstance(kernel, CountedParts) else None
    if spec is None:
        return None
    texts = term.select(train)
    if spec["kind"] == "gapped" and any("-" in text for text in texts):
        return None  # a letter that looks like a gap
    assert isinstance(kernel, CountedParts)
    found = kernel._occurrences(texts)
    if found.n_parts * dual.shape[1] > _MOST_WORDS:
        return None
    weights = np.asarray(kernel.scaled(found.table(len(texts))).T @ (term.factor * dual))
    return {
        "kind": "words",
        "name": term.name,
        "column": int(term.select(columns)[0]),
        "words": spec,
        "names": found.names(np.arange(found.n_parts)),
        "weights": pack(weights),
    }


def _numbers(
    term: Summand, columns: np.ndarray, train: np.ndarray, dual: np.ndarray
) -> dict[str, Any] | None:
    if train.ndim != 2 or term.kernel.reads_objects:
        return None
    kernel = formula(term.kernel, np.ravel(term.select(columns)))
    if kernel is None:
        return None
    used = sorted(_columns(kernel))
    rows = np.asarray(train[:, used], dtype=float)
    if rows.size > _MOST_NUMBERS:
        return None
    return {
        "kind": "numbers",
        "name": term.name,
        "columns": used,
        "kernel": _renumbered(kernel, {j: i for i, j in enumerate(used)}),
        "rows": pack(rows),
        "dual": pack(term.factor * dual),
    }


def _columns(kernel: Formula) -> set[int]:
    """Columns that the parts of a formula read."""
    inner = kernel.get("of", [])
    found = [_columns(part) for part in (inner if isinstance(inner, list) else [inner])]
    return set(kernel.get("columns", ())).union(*found)


def _renumbered(kernel: Formula, place: dict[int, int]) -> Formula:
    """The formula for rows that have only the columns it reads."""
    made = dict(kernel)
    if "columns" in made:
        made["columns"] = [place[j] for j in made["columns"]]
    if "of" in made:
        inner = made["of"]
        many = isinstance(inner, list)
        made["of"] = [_renumbered(part, place) for part in inner] if many else _renumbered(inner, place)
    return made
