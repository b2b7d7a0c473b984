"""Losses: what a good fit means.

Every model minimises ``Σ_i s_i · loss(y_i, η_i) + (α/2) ‖f‖²`` with one of these losses, where ``η`` is the
linear predictor (the model's output before the inverse link) and ``s`` are the row weights.
"""

from pellucid.losses.base import REGISTRY, Loss
from pellucid.losses.convert import as_loss
from pellucid.losses.hinge import Hinge, SquaredHinge
from pellucid.losses.logistic import Logistic
from pellucid.losses.loglink import Gamma, Poisson
from pellucid.losses.multinomial import Multinomial
from pellucid.losses.squared import Squared

__all__ = [
    "REGISTRY",
    "Gamma",
    "Hinge",
    "Logistic",
    "Loss",
    "Multinomial",
    "Poisson",
    "Squared",
    "SquaredHinge",
    "as_loss",
]
