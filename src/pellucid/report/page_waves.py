r"""The page model of an ISK model: its waves, with all their digits.

A feature becomes :math:`u` by linear interpolation, and every term is a sum of waves in one or two of them,
:math:`\sum_i \operatorname{Re}(\bar w_i e^{\mathrm{i}\varphi_i})` with :math:`\varphi_i = \omega_{i1}u_p +
\omega_{i2}u_q`, where one of the two may be left out. The page computes these sums; nothing is tabulated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid.effects import Effect
from pellucid.report.packing import pack
from pellucid.report.page_model import PageModel

_NEEDED = ("_scaler", "_pairs", "_W", "_beta", "_mean", "_sd", "_intercept")


def is_fourier(model: Any) -> bool:
    """Whether the model is a sum of pairwise Fourier features."""
    return all(hasattr(model, name) for name in _NEEDED)


def wave_model(model: Any, effects: Sequence[Effect]) -> PageModel:
    """Frequencies, warps of the features and weights of the terms, in the order of ``effects``."""
    place = {tuple(term): t for t, term in enumerate(model.terms_)}
    factor = model._beta / model._sd
    mains = [model._pairs.main_weights(w) for w in model._W.T]
    terms = []
    for effect in effects:
        t = place[tuple(effect.term)]
        if len(effect.term) == 1:
            p = effect.term[0]
            weights = [[side[p] for side in sides] for sides in mains]  # [output][side]
            parts = [_part(0, first=0), _part(1, second=0)]
        else:
            number = model._pairs._number(effect.term)
            weights = [[_pair_weights(model, w, number)] for w in model._W.T]
            parts = [_part(0, first=0, second=1), _part(0, first=0, sign=-1), _part(0, second=1, sign=-1)]
        scaled = np.array(
            [[factor[t, c] * w for w in own] for c, own in enumerate(weights)]
        )  # (q, sets, d/2)
        terms.append(
            {
                "type": "waves",
                "features": list(effect.term),
                "parts": parts,
                "re": pack(np.moveaxis(scaled.real, 0, 2)),
                "im": pack(np.moveaxis(scaled.imag, 0, 2)),
                "mean": (factor[t] * model._mean[t]).tolist(),
            }
        )
    return {
        "intercept": np.asarray(model._intercept, dtype=float).tolist(),
        "omega": model._pairs.omega.tolist(),
        "warps": [_warp(column) for column in model._scaler.columns],
        "terms": terms,
    }


def _pair_weights(model: Any, w: np.ndarray, number: int) -> np.ndarray:
    pairs = np.ascontiguousarray(w, dtype=float).view(complex).reshape(model._pairs.K, -1)
    return pairs[number] * model._pairs.scale


def _part(
    weights: int, *, first: int | None = None, second: int | None = None, sign: int = 1
) -> dict[str, Any]:
    """Waves along the first, the second or both frequencies, of inputs by their place in the term."""
    return {"weights": weights, "first": first, "second": second, "sign": sign}


def _warp(column: Any) -> dict[str, Any]:
    warp = {
        "knots": np.asarray(column.knots, float).tolist(),
        "values": np.asarray(column.values, float).tolist(),
    }
    if column.levels is not None:
        warp["levels"] = [str(level) for level in column.levels]
        warp["positions"] = [float(position) for position in column.levels.values()]
        warp["unknown"] = float(column.unknown)
    return warp
