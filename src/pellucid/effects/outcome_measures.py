"""How good predictions of any loss are: by what the loss is about, not by squared errors for everything."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.data.outcomes import enter_outcome
from pellucid.data.targets import check_offset, unit_of
from pellucid.data.weights import check_weight
from pellucid.effects.concordance import concordance
from pellucid.effects.explanation import unwrapped
from pellucid.effects.measures import measures_of_numbers
from pellucid.exceptions import RateWarning
from pellucid.losses import Expectile, Loss, Quantile

Levels = Sequence[float]


@dataclass(frozen=True)
class Outcome:
    """Targets in the form in which losses take them, beside predictions.

    ``mu`` has one column per loss: levels of quantiles share the targets.
    """

    losses: tuple[Loss, ...]
    y: np.ndarray  # (n,)
    mu: np.ndarray  # (n, number of losses)
    weight: np.ndarray  # (n,)
    known: np.ndarray  # (n,): offset, with the logarithm of the exposure

    @property
    def loss(self) -> Loss:
        """The first of the losses, which are all of one kind."""
        return self.losses[0]

    @property
    def levels(self) -> Levels:
        """Levels of quantiles or expectiles; none of other losses."""
        return [loss.level for loss in self.losses if isinstance(loss, Quantile | Expectile)]

    @property
    def middle(self) -> int:
        """The column of predictions that is nearest to the middle of the targets."""
        return int(np.argmin(np.abs(np.array(self.levels) - 0.5))) if self.levels else 0

    def explained(self) -> float:
        """Share of the deviance explained, a mean over several levels; 1 is perfect, 0 like a constant."""
        share = self.weight / self.weight.sum()
        found = []
        for loss, mean in zip(self.losses, self.mu.T, strict=True):
            y, eta, known = self.y, loss.predictor(mean), self.known
            if loss.degree:  # in a unit of the targets' own and from one of them, as squares may overflow
                unit, first = unit_of(y), y[0]
                y, eta, known, loss = (
                    (y - first) / unit,
                    (eta - first) / unit,
                    known / unit,
                    loss.in_unit(unit),
                )
            found.append(loss.explained(y, eta, share, known))
        return float(np.mean(found))

    def pinball(self) -> np.ndarray:
        """Check loss of each row, a mean over the levels."""
        r = self.y[:, None] - self.mu
        return np.mean(
            [np.maximum(t * e, (t - 1.0) * e) for t, e in zip(self.levels, r.T, strict=True)], axis=0
        )

    def asymmetric(self) -> np.ndarray:
        """Squared errors that count by the level of an expectile on the side on which they are."""
        r = self.y[:, None] - self.mu
        sides = [np.where(e > 0, t, 1.0 - t) * e**2 for t, e in zip(self.levels, r.T, strict=True)]
        return np.mean(sides, axis=0)

    def expected_events(self) -> np.ndarray:
        """Events to be expected of each row up to the time at which it was last seen."""
        return self.mu[:, 0] * self.loss.baseline.at(np.abs(self.y))  # type: ignore[attr-defined]

    def measures(self) -> dict[str, float]:
        """Measures by name, of which ``TITLES`` has the words."""
        w = self.weight
        if self.loss.kind == "survival":
            order = concordance(np.abs(self.y), ~np.signbit(self.y), self.mu[:, 0], w)
            return {"concordance": order, "explained": self.explained()}
        if isinstance(self.loss, Quantile):
            below = {
                f"below {level:g}": float(np.average(self.y <= q, weights=w))
                for level, q in zip(self.levels, self.mu.T, strict=True)
            }
            return {
                "pinball": float(np.average(self.pinball(), weights=w)),
                "explained": self.explained(),
            } | below
        if isinstance(self.loss, Expectile):
            return {
                "expectile_loss": float(np.average(self.asymmetric(), weights=w)),
                "explained": self.explained(),
            }
        found = measures_of_numbers(self.y, self.mu[:, 0], w)
        if self.loss.name == "squared":
            return found
        del found["r2"]
        return {"explained": self.explained()} | found


def losses_of(model: Any) -> tuple[Loss, ...]:
    """The losses of a fitted regressor, also inside of a pipeline; none if it has none of its own."""
    inner = unwrapped(model)[0]
    loss = getattr(inner, "loss_", None)
    if not isinstance(loss, Loss) or hasattr(inner, "classes_"):
        return ()
    return tuple(getattr(inner, "losses_", None) or (loss,))


def takes_exposure(loss: Loss | type[Loss]) -> bool:
    """Whether the prediction is proportional to the time or size behind a row."""
    return loss.link == "log" and loss.kind != "survival"


def outcome_of(
    losses: Sequence[Loss], y: Any, mu: Any, weight: Any = None, offset: Any = None, exposure: Any = None
) -> Outcome:
    """Targets as users have them, such as times with events, beside predictions for these losses."""
    mu = np.asarray(mu, dtype=float)
    mu = mu.reshape(len(mu), -1)
    loss = losses[0]
    with warnings.catch_warnings():  # whether fractions are rates was asked when the model was fitted
        warnings.simplefilter("ignore", RateWarning)
        target, weight = enter_outcome(y, mu, check_weight(weight, len(mu)), loss)
    known = check_offset(offset, exposure, len(mu), log_link=takes_exposure(loss))
    return Outcome(tuple(losses), target, mu, weight, known)
