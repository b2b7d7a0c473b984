"""Prior variances of groups of columns changed one group after another, everything else following at once.

Where groups do the work of each other, as copies of a feature do, variances that all move at the same time
swing: each group finds that the others leave nothing for it, all go, and then all are missed. One after
another, the first keeps what it has and its copies find that nothing is left for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import lapack

from pellucid.linalg.factor import mirror
from pellucid.solvers.variance_components import Components

_NOTHING = 1e-3  # of a degree of freedom, which are not worth a change
_CLOSE = 0.2  # in logarithms of ridges, the same
_FLUSH = 256  # columns of changes that are kept apart from the matrix that they change


@dataclass(frozen=True)
class Look:
    """What a fit says of the columns of one group, all other variances as they are.

    Were the group absent, its score u = Zᵀ W (z - fit without it) would be N(0, σ²M); with S the inverse of
    its block of H⁻¹ these are u = Sβ and M = S - Λ.

    Attributes
    ----------
    columns : ndarray of shape (F, m)
        The group's columns of H⁻¹.
    own : ndarray of shape (m, m)
        Its block of H⁻¹.
    beta, ridge : ndarray of shape (m,)
        Coefficients and ridges.
    scale : float
        σ².
    square : float
        Q = zᵀV⁻¹z/σ², with the covariance σ²V of the targets that all coefficients together give.
    degrees : float
        ν, degrees of freedom that tell of σ²; infinite where it is known.
    """

    columns: np.ndarray
    own: np.ndarray
    beta: np.ndarray
    ridge: np.ndarray
    scale: float
    square: float
    degrees: float

    @cached_property
    def information(self) -> np.ndarray:
        """M."""
        return np.asarray(np.linalg.inv(self.own) - np.diag(self.ridge))

    @property
    def without(self) -> float:
        """Q if the group were absent: there is uᵀSu/σ² more of it."""
        return self.square + float(self.beta @ self.score) / self.scale

    @property
    def score(self) -> np.ndarray:
        """Score u = Sβ."""
        return np.asarray(self.information @ self.beta + self.ridge * self.beta)

    @property
    def edf(self) -> np.ndarray:
        """Effective degrees of freedom of the columns."""
        return 1.0 - self.ridge * np.diagonal(self.own)

    def log_bayes_factor(self, shape: np.ndarray, c: np.ndarray) -> np.ndarray:
        """Evidence for prior variances c times a shape against nothing, for several factors c.

        With s the root of the shape over σ, A = diag(s) M diag(s) and ζ = s u / σ,

            log B(c) = ½ [c ζᵀ (I + cA)⁻¹ ζ - log |I + cA|].

        Where σ² is not known, what is given is the ratio of all variances to it, and σ² is integrated out:
        with Q₀ the Q without the group the gain g becomes -ν log(1 - g/Q₀), which is less than it would be if
        the σ² that the group itself brings about were the truth.

        Householder's reduction of the bordered matrix [0, ζᵀ; ζ, A] leaves its first row at ‖ζ‖ e₁: in the
        basis in which A is a tridiagonal T, ζ is ‖ζ‖ e₁. That takes a third of the work of eigenvectors.
        """
        M = self.information
        s = np.sqrt(shape / self.scale)
        A = M * np.multiply.outer(s, s)
        zeta = s * self.score / np.sqrt(self.scale)
        m = len(s)
        if m == 1:
            x = c * max(float(A[0, 0]), 0.0)
            return self._log_evidence(c * zeta[0] ** 2 / (1.0 + x), np.log1p(x))
        bordered = np.zeros((m + 1, m + 1), order="F")
        bordered[1:, 1:], bordered[1:, 0] = A, zeta
        work = int(lapack.dsytrd_lwork(m + 1, lower=1)[0])
        _, d, e, _, _ = lapack.dsytrd(bordered, lower=1, lwork=work, overwrite_a=1)
        size, d, e, first = e[0] ** 2, d[1:], e[1:], np.eye(m, 1)[:, 0]
        gain, log_det = np.zeros(len(c)), np.full(len(c), np.inf)
        for k, factor in enumerate(c):
            pivots, _, x, failed = lapack.dptsv(1.0 + factor * d, factor * e, first)
            if failed:  # rounding left an eigenvalue far below zero: no evidence for so large a variance
                break
            gain[k], log_det[k] = factor * size * float(x[0]), float(np.log(pivots).sum())
        return self._log_evidence(gain, log_det)

    def _log_evidence(self, gain: np.ndarray, log_det: np.ndarray) -> np.ndarray:
        if np.isfinite(self.degrees):
            share = np.clip(gain / max(self.without, 1e-300), 0.0, 1.0 - 1e-12)
            gain = -self.degrees * np.log1p(-share)
        return np.asarray(0.5 * (gain - log_det))


class OneByOne:
    """A fit whose ridges are changed group by group.

    With a change Δ of some ridges, H⁻¹ becomes H⁻¹ - C K Cᵀ with the columns C of these and K = (I +
    Δ[H⁻¹])⁻¹ Δ, and β becomes β - C K β of these. Changes are kept as products until there are enough of
    them to be subtracted at once.

    Parameters
    ----------
    fit : Components
        Where to start; it stays as it is.
    """

    def __init__(self, fit: Components) -> None:
        root = np.asfortranarray(fit.root)
        if not np.triu(root, 1).any():
            self._inverse = lapack.dlauum(root, lower=1)[0]
            mirror(self._inverse, from_upper=False)
        else:
            self._inverse = root.T @ root
        self.beta, self.ridge, self.scale = fit.beta.copy(), fit.ridge.copy(), fit.scale
        self.square, self.degrees = (fit.rss + float(fit.ridge @ fit.beta**2)) / fit.scale, fit.degrees
        self._left: list[np.ndarray] = []
        self._right: list[np.ndarray] = []
        self._n = 0

    def look(self, members: slice) -> Look:
        """The state of some columns now."""
        C = self._inverse[:, members].copy()
        if self._left:
            left, right = np.hstack(self._left), np.hstack(self._right)
            C -= left @ right[members].T
        own = C[members]
        beta, ridge = self.beta[members], self.ridge[members]
        return Look(C, (own + own.T) / 2, beta, ridge, self.scale, self.square, self.degrees)

    def change(self, members: slice, look: Look, ridge: np.ndarray) -> None:
        """Give some columns other ridges; ``look`` is the present state of them.

        Ridges that hardly change, or make no difference before and after, stay.
        """
        worth = np.maximum(np.diagonal(look.information), 0.0) > _NOTHING * np.minimum(ridge, look.ridge)
        some = np.flatnonzero(worth & (np.abs(np.log(ridge / look.ridge)) > _CLOSE))
        if not len(some):
            return
        C, change = look.columns[:, some], (ridge - look.ridge)[some]
        K = np.linalg.solve(
            np.eye(len(some)) + change[:, None] * look.own[np.ix_(some, some)], np.diag(change)
        )
        moved, beta = C @ K, look.beta[some]
        self.square += float(beta @ K @ beta) / self.scale
        self.beta -= moved @ beta
        self.ridge[members.start + some] = ridge[some]
        self._left.append(moved)
        self._right.append(C)
        self._n += len(some)
        if self._n >= _FLUSH:
            self._inverse -= np.hstack(self._left) @ np.hstack(self._right).T
            self._left, self._right, self._n = [], [], 0
