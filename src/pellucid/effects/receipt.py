"""The price of interpretability, measured: what main effects explain, what pairs add, what is left to add."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Receipt:
    """Shares of the deviance explained out of sample, each on top of the one before.

    Attributes
    ----------
    main : float
        Share explained by main effects alone.
    pairs : float
        What pairs add to it.
    beyond : float
        What a kernel machine of all features together, fitted to the residuals, adds on top: the price of
        leaving out higher orders. Never negative.
    how : str
        By which estimate of the error out of sample.

    Examples
    --------
    >>> print(Receipt(main=0.6, pairs=0.25, beyond=0.05, how="leave-one-out"))
    main effects explain        60.0 %
    pairs add                   25.0 %
    all orders together add      5.0 %
    unexplained                 10.0 %   (leave-one-out)
    """

    main: float
    pairs: float
    beyond: float
    how: str

    @property
    def explained(self) -> float:
        """Share that the model explains."""
        return self.main + self.pairs

    @property
    def unexplained(self) -> float:
        """Share that neither the model nor the machine on its residuals explains."""
        return 1.0 - self.explained - self.beyond

    def __str__(self) -> str:
        rows = [
            ("main effects explain", self.main, ""),
            ("pairs add", self.pairs, ""),
            ("all orders together add", self.beyond, ""),
            ("unexplained", self.unexplained, f"   ({self.how})"),
        ]
        return "\n".join(f"{label:<26}{100 * share:6.1f} %{note}" for label, share, note in rows)
