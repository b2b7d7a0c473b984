r"""Fits of one ridge problem at several ridge strengths, and every criterion that chooses among them.

Notation, for one ridge strength α: weights :math:`s`, residuals :math:`r = y - \hat y`, dual coefficients
:math:`a = S r / \alpha`, leverages :math:`h_i = \partial \hat y_i / \partial y_i` and slack :math:`1 - h_i`.

*Leave-one-out* is exact: without row *i* the residual at row *i* is :math:`e_i = r_i / (1 - h_i)`, whatever
the weights and with or without an intercept. The slack is stored rather than the leverage because solvers in
the dual know it to full relative accuracy even where the leverage rounds to one.

*Choosing α with weights.* A row of weight 3 stands for three observations. Criteria leave out one
*observation*: one of the three, or the whole row when its weight is at most one. So :math:`1 - h_i` becomes
:math:`1 - h_i / m_i` with :math:`m_i = \max(1, s_i)`, and a weight of 3 chooses the same model as three
copies of the row. Without weights nothing changes. In the marginal likelihood, too, a row of weight
:math:`s_i > 1` is :math:`s_i` observations with noise α, which adds :math:`(s_i - 1)\log\alpha + \log s_i` to
the log determinant; a row of smaller weight is one observation with noise :math:`\alpha / s_i`.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

CRITERIA = ("loo", "gcv", "ml")


@dataclass(frozen=True)
class Fits:
    """What a solver returns for ``m`` ridge strengths, ``n`` rows and ``q`` outputs."""

    alphas: np.ndarray  # (m,)
    residuals: np.ndarray  # (m, n, q): y − ŷ
    slack: np.ndarray  # (m, n): 1 − leverage
    quadratic: np.ndarray  # (m, q): yᵀ (K + α S⁻¹)⁻¹ y, on the complement of the intercept
    log_det: np.ndarray  # (m,): log |K + α S⁻¹|, plus log 1ᵀ(K + α S⁻¹)⁻¹1 with an intercept
    weight: np.ndarray  # (n,)
    fit_intercept: bool

    @property
    def observations(self) -> np.ndarray:
        """How many observations each row stands for: its weight, but at least one."""
        return np.maximum(1.0, self.weight)

    @property
    def dual_coef(self) -> np.ndarray:
        """Dual coefficients ``a``, of shape (m, n, q)."""
        return self.weight[:, None] * self.residuals / self.alphas[:, None, None]

    @property
    def loo_residuals(self) -> np.ndarray:
        """Residual of each row in the fit without it, of shape (m, n, q)."""
        return self.residuals / _safe(self.slack)[:, :, None]

    @cached_property
    def held_out_residuals(self) -> np.ndarray:
        """Residual of each row in the fit without one observation of it, of shape (m, n, q)."""
        m = self.observations
        return self.residuals * (m / _safe(m - 1.0 + self.slack))[:, :, None]

    @property
    def dof(self) -> np.ndarray:
        """Effective degrees of freedom: the sum of the leverages, of shape (m,)."""
        return len(self.weight) - self.slack.sum(axis=1)

    def criterion(self, name: str) -> np.ndarray:
        """Value of a criterion, smaller is better, of shape (m, q): ``"loo"``, ``"gcv"`` or ``"ml"``."""
        if name == "loo":
            return self._weighted_mean_square(self.held_out_residuals)
        if name == "gcv":
            room = np.maximum(1.0 - self.dof / self.observations.sum(), np.finfo(float).eps)
            return self._weighted_mean_square(self.residuals) / room[:, None] ** 2
        if name == "ml":
            return -self.profile_log_likelihood / max(self._free, 1)
        raise ValueError(f"Unknown criterion {name!r}; choose from {', '.join(CRITERIA)}.")

    def _weighted_mean_square(self, residuals: np.ndarray) -> np.ndarray:
        return np.einsum("n,mnq->mq", self.weight / self.weight.sum(), residuals**2)

    @property
    def _free(self) -> float:
        return float(self.observations.sum()) - int(self.fit_intercept)

    @property
    def scale(self) -> np.ndarray:
        """Scale of the Gaussian process of highest likelihood, ``quadratic / free``, shape (m, q)."""
        return self.quadratic / max(self._free, 1)

    def log_likelihood(self, scale: np.ndarray | float) -> np.ndarray:
        """Log marginal likelihood of a Gaussian process of covariance ``scale · (K + α S⁻¹)``, shape (m, q).

        With an intercept, its restricted form, in which the intercept has a flat prior.
        """
        m = self.observations
        log_det = self.log_det + (m - 1.0).sum() * np.log(self.alphas) + np.log(m).sum()
        return -0.5 * (
            self.quadratic / scale + log_det[:, None] + self._free * np.log(2.0 * np.pi * np.asarray(scale))
        )

    @property
    def profile_log_likelihood(self) -> np.ndarray:
        """Log marginal likelihood at the best scale, shape (m, q)."""
        return self.log_likelihood(np.maximum(self.scale, np.finfo(float).tiny))


def _safe(value: np.ndarray) -> np.ndarray:
    """Keep a denominator that rounded to zero away from it."""
    return np.maximum(value, np.finfo(float).tiny)
