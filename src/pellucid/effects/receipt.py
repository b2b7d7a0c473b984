"""The price of interpretability, measured: what main effects explain, what pairs add, what is left to add."""

from dataclasses import dataclass

from pellucid.effects.html import html_table


@dataclass(frozen=True)
class Receipt:
    """Shares of the deviance explained out of sample, each on top of the one before.

    Rows are left out of the fit, not of the choice of terms: where rows are few for the terms that might
    have entered, expect less of new rows.

    Examples
    --------
    >>> print(Receipt(main=0.6, pairs=0.25, beyond=0.05, how="leave-one-out"))
    main effects explain        60.0 %
    pairs add                   25.0 %
    all orders together add      5.0 %
    unexplained                 10.0 %   (leave-one-out)
    """

    main: float
    """Share explained by main effects alone."""
    pairs: float
    """What pairs add to it; negative where held-out rows of several classes are predicted better without."""
    beyond: float | None
    """What a kernel machine of all features together, fitted to the residuals, adds on top: the price of
    leaving out higher orders. Never negative; ``None`` where only sums over rows are known."""
    how: str
    """By which estimate of the error out of sample."""

    @property
    def explained(self) -> float:
        """Share that the model explains."""
        return self.main + self.pairs

    @property
    def unexplained(self) -> float:
        """Share that neither the model nor the machine on its residuals explains."""
        return 1.0 - self.explained - (self.beyond or 0.0)

    def __str__(self) -> str:
        *parts, (last, share) = self._rows()
        lines = [f"{label:<26}{value}" for label, value in parts]
        return "\n".join([*lines, f"{last:<26}{share}   ({self.how})"])

    def _repr_html_(self) -> str:
        return html_table(f"Receipt ({self.how})", (), self._rows())

    def _rows(self) -> list[tuple[str, str]]:
        shares = (self.main, self.pairs, self.beyond, self.unexplained)
        labels = ("main effects explain", "pairs add", "all orders together add", "unexplained")
        texts = ["  not known" if share is None else f"{100 * share:6.1f} %" for share in shares]
        return list(zip(labels, texts, strict=True))
