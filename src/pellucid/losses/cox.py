r"""Times until an event, with censoring: Cox's proportional hazards.

A row with score η has the hazard :math:`h(t) e^{\eta}`. Given the baseline hazard h, with integral H, a row
that is observed until t and has its event there (δ = 1) or not (δ = 0) costs

.. math:: e^{\eta} H(t) - \delta\,(\eta + \log h(t)) ,

the loss of a Poisson count δ with exposure H(t). The baseline that is best beside η puts mass on event times
only, :math:`h_k = d_k / S_k` with the d events at :math:`t_k` and :math:`S_k = \sum e^{\eta}` over the rows
at risk then (Breslow). Put back in, the sum over rows is minus the logarithm of Cox's partial likelihood,
its gradient is that of each row with the baseline held, and its Hessian is
:math:`\operatorname{diag}(e^{\eta} H) - \sum_k d_k\, p_k p_k^\top` with the shares :math:`p_k` of the rows at
risk.

Events at the same time are taken one after the other in no order (Efron): in step l of d each of them is at
risk with share 1 − l/d only. So they have less exposure, and the sums above run over steps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from pellucid.losses.base import Loss
from pellucid.losses.constant import check_weight
from pellucid.losses.exponential import bent_exp, bent_exp_curvature, bent_exp_slope, excess

_LOG_ZERO = -600.0  # stands for the logarithm of an exposure of zero, and for the least share of a risk set


@dataclass(frozen=True, eq=False, repr=False)
class Baseline:
    """Baseline hazard: masses at event times, those of a row with score zero."""

    times: np.ndarray  # (K,), increasing
    hazard: np.ndarray  # (K,)
    own: np.ndarray  # (K,): what of it the events at that time were exposed to themselves
    mean_log: np.ndarray  # (K,): mean logarithm of the steps of which each mass consists
    log_scale: float = 0.0  # logarithm of what all masses are to be multiplied with

    @property
    def cumulative_hazard(self) -> np.ndarray:
        """Cumulative hazard at ``times``."""
        return np.exp(self.log_scale) * np.cumsum(self.hazard)

    @property
    def survival(self) -> np.ndarray:
        """Probability to be without event after each of ``times``, for a row with score zero."""
        return np.exp(-self.cumulative_hazard)

    def at(self, times: ArrayLike) -> np.ndarray:
        """Cumulative hazard at any times; after the last event it stays what it is."""
        whole = np.append(0.0, self.cumulative_hazard)
        return whole[np.searchsorted(self.times, np.asarray(times, dtype=float), "right")]

    def log_exposure(self, t: np.ndarray, event: np.ndarray) -> np.ndarray:
        """Logarithm of the hazard that rows were exposed to."""
        k = np.searchsorted(self.times, t, "right") - 1
        here = np.maximum(k, 0)
        tied = event & (k >= 0) & (self.times[here] == t)
        exposure = np.where(k >= 0, np.cumsum(self.hazard)[here], 0.0)
        exposure = np.where(tied, exposure - self.hazard[here] + self.own[here], exposure)
        with np.errstate(divide="ignore"):
            return np.maximum(np.log(np.maximum(exposure, 0.0)), _LOG_ZERO) + self.log_scale

    def __repr__(self) -> str:
        return f"Baseline({len(self.times)} event times from {self.times[0]:.4g} to {self.times[-1]:.4g})"

    def __eq__(self, other: object) -> bool:
        return type(other) is Baseline and all(
            np.array_equal(a, vars(other)[k]) for k, a in vars(self).items()
        )

    def __hash__(self) -> int:
        return hash((self.times.tobytes(), self.hazard.tobytes(), self.log_scale))


class Cox(Loss):
    """Proportional hazards of a time that may be censored (see the module's formula).

    Targets are times with a sign: ``y = t`` for an event at t, ``y = −t`` for a row that left without one;
    estimators take two columns, time and event, as well. ``η`` is the logarithm of the hazard relative to the
    baseline, whose level takes the intercept's place. A solver fits the two together: :meth:`profiled` finds
    the baseline, and :meth:`coupling` says how it gives way.

    Weights count as in R's ``coxph``: each of the steps into which tied events are taken apart has their mean
    weight. So a weight of 2 is the row twice where its time is that of no other event; the copies themselves
    would be tied.

    Parameters
    ----------
    baseline : Baseline, optional
        Baseline hazard; if not given, a constant one of 1 per unit of time.

    References
    ----------
    D. R. Cox, "Regression models and life-tables", Journal of the Royal Statistical Society B 34 (1972).
    B. Efron, "The efficiency of Cox's likelihood function for censored data", Journal of the American
    Statistical Association 72 (1977).

    Examples
    --------
    >>> from pellucid.losses import Cox
    >>> fitted = Cox().profiled(
    ...     [1.0, -2.0, 3.0, 3.0], [0.0, 0.0, 0.0, 0.0]
    ... )  # the second left at time 2
    >>> fitted.baseline.hazard  # one of four, then one of two and one of one
    array([0.25, 1.5 ])
    >>> fitted
    Cox(baseline=Baseline(2 event times from 1 to 3))
    """

    name = "cox"
    kind = "survival"
    link = "log"
    joint = True

    def __init__(self, baseline: Baseline | None = None) -> None:
        self.baseline = baseline

    @property
    def is_open(self) -> bool:
        """The baseline is no nuisance left open: it is fitted together with the scores."""
        return False

    def _parts(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Event or not as a number, logarithms of exposure and of the hazard at the event."""
        t, event = np.abs(y), ~np.signbit(y)
        if self.baseline is None:
            with np.errstate(divide="ignore"):
                return event * 1.0, np.maximum(np.log(t), _LOG_ZERO), np.zeros(t.shape)
        place = np.clip(np.searchsorted(self.baseline.times, t, "right") - 1, 0, None)
        level = self.baseline.mean_log[place] + self.baseline.log_scale
        return event * 1.0, self.baseline.log_exposure(t, event), np.where(event, level, 0.0)

    def _value(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        event, log_exposure, log_hazard = self._parts(y)
        return bent_exp(eta + log_exposure) - event * (eta + log_hazard)

    def _gradient(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        event, log_exposure, _ = self._parts(y)
        return bent_exp_slope(eta + log_exposure) - event

    def _curvature(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        return bent_exp_curvature(eta + self._parts(y)[1])

    def _deviance(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        event, log_exposure, _ = self._parts(y)
        r = eta + log_exposure
        return 2.0 * np.where(event > 0, excess(r), bent_exp(r))

    def _mean(self, eta: np.ndarray) -> np.ndarray:
        return np.exp(np.clip(eta, -708.0, 709.0))

    def _allowed(self, y: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        if np.all(np.signbit(y) if weight is None else np.signbit(y) | (weight == 0)):
            raise ValueError("The cox loss needs at least one event: all rows left without one.")
        return y

    # -------------------------------------------------------------- baseline
    def profiled(self, y: ArrayLike, eta: ArrayLike, weight: ArrayLike | None = None) -> Cox:
        """The loss with the baseline that is best beside ``eta``."""
        y, eta = self._pair(y, eta)
        risk = _Risk.of(y, eta, check_weight(weight, len(y)))
        if not len(risk.times):  # no event: a hazard too small to be seen
            none = np.full(1, np.exp(_LOG_ZERO / 2))
            return Cox(Baseline(np.abs(y).max(keepdims=True), none, none, np.log(none)))
        step = risk.weight[risk.k] / risk.at_risk
        steps = np.bincount(risk.k)
        return Cox(
            Baseline(
                risk.times,
                np.bincount(risk.k, step),
                np.bincount(risk.k, (1.0 - risk.gone) * step),
                np.bincount(risk.k, np.log(step)) / steps,
                -risk.top,
            )
        )

    def coupling(self, y: np.ndarray, eta: np.ndarray, weight: np.ndarray, Z: np.ndarray) -> np.ndarray:
        """Matrix ``M`` by which a baseline that gives way flattens the Hessian: ``ZᵀWZ − MᵀM``."""
        risk = _Risk.of(y, eta, weight)
        if not len(risk.times):
            return np.zeros((0, Z.shape[1]))
        n, K = len(y), len(risk.times)
        seen = np.flatnonzero(risk.last >= 0)
        groups = csr_array((risk.share[seen], (risk.last[seen], seen)), shape=(K, n)) @ Z
        whole = np.cumsum(groups[::-1], axis=0)[::-1]
        ended = np.flatnonzero(risk.event)
        tied = csr_array((risk.share[ended], (risk.last[ended], ended)), shape=(K, n)) @ Z
        centre = (whole[risk.k] - risk.gone[:, None] * tied[risk.k]) / risk.at_risk[:, None]
        return np.sqrt(risk.weight[risk.k])[:, None] * centre

    def total_deviance(self, y: ArrayLike, eta: ArrayLike, weight: ArrayLike) -> float:
        """Twice the partial log-likelihood lost against scores that foresee the order of all events."""
        y, eta = self._pair(y, eta)
        risk = _Risk.of(y, eta, np.asarray(weight, dtype=float))
        if not len(risk.times):
            return 0.0
        w, steps = risk.weight, np.bincount(risk.k)
        s = np.asarray(weight, dtype=float)[risk.event]
        lost = float(w[risk.k] @ (np.log(risk.at_risk) + risk.top) - s @ eta[risk.event])
        best = float(steps * w @ np.log(steps * w) + w[risk.k] @ np.log1p(-risk.gone))
        return 2.0 * max(lost - best, 0.0)


@dataclass(frozen=True)
class _Risk:
    """Who was at risk when: event times, and the steps into which events at the same time are taken apart."""

    times: np.ndarray  # (K,): distinct times of events
    weight: np.ndarray  # (K,): mean weight of the events at each
    k: np.ndarray  # (number of events,): event time of each step
    gone: np.ndarray  # (number of events,): share of tied events that went before it
    at_risk: np.ndarray  # (number of events,): Σ s exp(η − top) over the rows at risk
    share: np.ndarray  # (n,): s exp(η − top)
    last: np.ndarray  # (n,): last event time at which the row is at risk, -1 for none
    event: np.ndarray  # (n,): whether it ended with an event that counts
    top: float

    @classmethod
    def of(cls, y: np.ndarray, eta: np.ndarray, s: np.ndarray) -> _Risk:
        t, event = np.abs(y), ~np.signbit(y) & (s > 0)
        times, number = np.unique(t[event], return_counts=True)
        K = len(times)
        last = np.searchsorted(times, t, "right") - 1
        top = float(np.max(eta, where=s > 0, initial=-np.inf))
        share = s * np.exp(np.clip(eta - top, _LOG_ZERO, 0.0))
        seen = last >= 0
        whole = np.bincount(last[seen], share[seen], minlength=K)[::-1].cumsum()[::-1]
        tied = np.bincount(last[event], share[event], minlength=K)
        weight = np.bincount(last[event], s[event], minlength=K) / number
        k = np.repeat(np.arange(K), number)
        gone = (np.arange(len(k)) - np.repeat(np.cumsum(number) - number, number)) / number[k]
        return cls(times, weight, k, gone, whole[k] - gone * tied[k], share, last, event, top)
