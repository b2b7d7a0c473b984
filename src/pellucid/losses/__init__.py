"""Losses: what a good fit means.

Every model minimises ``Σ_i s_i · loss(y_i, η_i) + (α/2) ‖f‖²`` with one of these losses, where ``η`` is the
linear predictor (the model's output before the inverse link) and ``s`` are the row weights.
"""

from pellucid.losses.base import REGISTRY, Loss
from pellucid.losses.binomial import Binomial
from pellucid.losses.convert import as_loss
from pellucid.losses.cox import Baseline, Cox
from pellucid.losses.hinge import Hinge, SquaredHinge
from pellucid.losses.logistic import Logistic
from pellucid.losses.loglink import Gamma, Poisson
from pellucid.losses.multinomial import Multinomial
from pellucid.losses.negative_binomial import NegativeBinomial
from pellucid.losses.ordinal import Ordinal
from pellucid.losses.robust import Expectile, Huber, Quantile
from pellucid.losses.squared import Squared
from pellucid.losses.tweedie import Tweedie

__all__ = [
    "REGISTRY",
    "Baseline",
    "Binomial",
    "Cox",
    "Expectile",
    "Gamma",
    "Hinge",
    "Huber",
    "Logistic",
    "Loss",
    "Multinomial",
    "NegativeBinomial",
    "Ordinal",
    "Poisson",
    "Quantile",
    "Squared",
    "SquaredHinge",
    "Tweedie",
    "as_loss",
]
