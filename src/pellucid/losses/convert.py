"""Everything that is accepted where a loss is expected."""

from collections.abc import Collection
from typing import Any

from pellucid.losses.base import REGISTRY, Loss


def as_loss(loss: Any, among: Collection[str] | None = None) -> Loss:
    """Return a :class:`Loss` for a loss or the name of one.

    Parameters
    ----------
    loss : Loss or str
        Names are "squared", "gamma", "poisson", "logistic", "multinomial", "hinge" and "squared_hinge", and
        those of losses that you define.
    among : collection of str, optional
        Names of the losses that are accepted here; all by default. A refusal lists these and no others.

    Examples
    --------
    >>> from pellucid.losses import as_loss
    >>> as_loss("poisson")
    Poisson()
    """
    known = sorted(REGISTRY if among is None else among)
    names = ", ".join(known)
    if isinstance(loss, str) and loss in REGISTRY and loss in known:
        return REGISTRY[loss]()
    if isinstance(loss, Loss) and (among is None or loss.name in known):
        return loss
    if isinstance(loss, str | Loss):
        unknown = "Unknown loss" if among is None else "This model does not take the loss"
        raise ValueError(f"{unknown} {getattr(loss, 'name', loss)!r}. Known names: {names}.")
    if isinstance(loss, type) and issubclass(loss, Loss):
        raise TypeError(f"Pass a loss, not its class: {loss.__name__}() instead of {loss.__name__}.")
    raise TypeError(f"Expected a loss or one of the names {names}; got {loss!r}.")


def losses_of(*kinds: str) -> list[str]:
    """Names of the losses for these kinds of targets."""
    return [name for name, loss in REGISTRY.items() if loss.kind in kinds]
