"""How a sparse model grows as its penalty falls."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class SparsePath:
    """Terms of a sparse model along a path of strengths, and what they were worth on held-out rows.

    Examples
    --------
    >>> path = SparsePath(
    ...     np.array([1.0, 0.1]), np.array([[0.0, 0.0], [0.5, 0.0]]), ("age", "sex"), 1
    ... )
    >>> path.n_terms
    array([0, 1])
    >>> path.entered()
    ['age']
    """

    alphas: np.ndarray
    """Strengths of shape (k,), from the strongest on."""
    norms: np.ndarray
    """Size of each term, of shape (k, n_terms): the root mean square of its effect over the training rows;
    zero if it is left out."""
    names: tuple[str, ...]
    """Names of the terms."""
    best: int
    """Position of the strength that is used."""
    error: np.ndarray | None = None
    """Mean held-out loss of shape (k,), where folds chose the strength; NaN where the search had ended."""
    se: np.ndarray | None = None
    """Standard error of that over the folds."""

    @property
    def n_terms(self) -> np.ndarray:
        """Number of terms in the model at each strength."""
        return (self.norms > 0).sum(axis=1)

    def entered(self) -> list[str]:
        """Names of the terms in the order in which they enter; those that never do are left out."""
        inside = self.norms > 0
        first = np.where(inside.any(axis=0), inside.argmax(axis=0), len(self.alphas))
        order = np.argsort(first, kind="stable")
        return [self.names[j] for j in order if first[j] < len(self.alphas)]

    def __str__(self) -> str:
        lines = ["     alpha  terms" + ("  held-out loss" if self.error is not None else "")]
        for k, alpha in enumerate(self.alphas):
            line = f"{alpha:10.4g}  {self.n_terms[k]:5d}"
            if self.error is not None:
                line += f"  {self.error[k]:13.6g}"
            lines.append(line + ("  <" if k == self.best else ""))
        return "\n".join(lines)
