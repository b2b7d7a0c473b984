"""Everything that is accepted where a loss is expected."""

from typing import Any

from pellucid.losses.base import REGISTRY, Loss


def as_loss(loss: Any) -> Loss:
    """Return a :class:`Loss` for a loss or the name of one.

    Parameters
    ----------
    loss : Loss or str
        Names are "squared", "gamma", "poisson", "logistic", "multinomial", "hinge" and "squared_hinge", and
        those of losses that you define.

    Examples
    --------
    >>> from pellucid.losses import as_loss
    >>> as_loss("poisson")
    Poisson()
    """
    if isinstance(loss, Loss):
        return loss
    names = ", ".join(sorted(REGISTRY))
    if isinstance(loss, str):
        if loss in REGISTRY:
            return REGISTRY[loss]()
        raise ValueError(f"Unknown loss {loss!r}. Known names: {names}.")
    if isinstance(loss, type) and issubclass(loss, Loss):
        raise TypeError(f"Pass a loss, not its class: {loss.__name__}() instead of {loss.__name__}.")
    raise TypeError(f"Expected a loss or one of the names {names}; got {loss!r}.")
