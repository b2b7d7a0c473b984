r"""Coefficients on the original features for a kernel model, and how far to trust them.

With weights :math:`s`, :math:`R = S^{1/2}`, weighted means taken out, :math:`\tilde X = R X_c` and
:math:`\tilde K = R K_c R`, the projection on the columns is :math:`P = \tilde X \tilde X^+`. The part of
the kernel that is linear in the features is :math:`P\tilde K P`, and

.. math:: \mathrm{KAF} = \|P \tilde K P\|_F^2 / \|\tilde K\|_F^2, \qquad \gamma = \tilde X^+ R\, f_c ,

where :math:`f_c` are the centred fitted values. When the columns span everything (as many as rows, or
more), KAF is one and :math:`X_c\gamma = f_c`: the coefficients reproduce the kernel's *fitted values*
exactly. On new rows :math:`x^T\gamma` and the kernel's prediction are still two predictors, which is
what the certificate is about.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import stats

from pellucid.linalg import ColumnSpace, SparseRows, is_sparse


@dataclass(frozen=True)
class Certificate:
    """How faithful the linear reading of a kernel model is. Print it."""

    exact: bool
    """Whether the coefficients reproduce the fitted values of the kernel model exactly."""
    kaf: float
    """Kernel accounted for: share of the squared kernel that is linear in the features, 1 if exact."""
    in_sample_gap: float
    """Root mean squared difference of linear and kernel predictor on the training rows, in standard
    deviations of the latter."""
    fidelity: float | None
    """R² of the linear against the kernel predictor on held-out rows; ``None`` if not computed."""
    agreement: float | None
    """Share of held-out rows that both put into the same class; classifiers only."""
    score_linear: float | None
    """Score of the linear predictor on held-out targets: share of deviance explained, or accuracy."""
    score_kernel: float | None
    """The same for the kernel predictor."""
    how: str
    """How rows were held out."""

    def __str__(self) -> str:
        kind = "exact on the training rows" if self.exact else "projected"
        lines = [
            f"coefficients       {kind}",
            f"KAF                {self.kaf:.4f}",
            f"in-sample gap      {self.in_sample_gap:.2g} sd",
        ]
        if self.fidelity is not None:
            lines.append(f"held-out fidelity  R² {self.fidelity:.3f} of linear against kernel ({self.how})")
            if self.agreement is not None:
                lines.append(
                    f"agreement          {100 * self.agreement:.1f} % of held-out rows in the same class"
                )
        else:
            lines.append("held-out fidelity  not computed: nothing is known of new rows")
        if self.score_linear is not None and self.score_kernel is not None:
            lines.append(f"held-out score     linear {self.score_linear:.3f}, kernel {self.score_kernel:.3f}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Inference:
    """Standard errors of coefficients, with the degrees of freedom left to estimate them."""

    standard_error: np.ndarray
    """Shaped like the coefficients."""
    free: float
    """Residual degrees of freedom: rows minus effective degrees of freedom; infinite where the dispersion
    is known."""
    kind: str
    """``"model"``, ``"robust"`` or ``"clustered"``."""

    def table(self, coef: np.ndarray, unit: float, sd: np.ndarray, level: float) -> dict[str, np.ndarray]:
        """Columns of a table of coefficients; ``unit`` is that of the targets, ``sd`` those of features."""
        se = self.standard_error * unit
        reach = stats.t.ppf(0.5 + level / 2.0, self.free) * se
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(se > 0, coef / se, 0.0)
        return {
            "coefficient": coef,
            "per_sd": coef * sd,
            "standard_error": se,
            "low": coef - reach,
            "high": coef + reach,
            "p_value": np.where(se > 0, 2.0 * stats.t.sf(np.abs(t), self.free), 1.0),
        }


@dataclass(frozen=True)
class LinearView:
    """A kernel model read as a linear one: ``x @ coef + intercept``."""

    coef: np.ndarray
    """Coefficients γ, of shape (features,) or (features, classes)."""
    intercept: float | np.ndarray
    """Intercept of the linear predictor."""
    certificate: Certificate
    names: Sequence[str]
    """Names of the features."""
    feature_sd: np.ndarray
    """Standard deviations of the features."""
    outputs: Sequence[str] = ()
    """What each column of the coefficients speaks for: classes, or numbered outputs."""

    @property
    def kaf(self) -> float:
        """Kernel accounted for."""
        return self.certificate.kaf

    def predict(self, X: Any) -> np.ndarray:
        """Linear predictor at new rows."""
        rows = SparseRows.of(X) if hasattr(X, "toarray") else np.asarray(X, dtype=float)
        return rows @ self.coef + self.intercept

    def __str__(self) -> str:
        coef = self.coef if self.coef.ndim == 1 else self.coef[:, 0]
        order = np.argsort(-np.abs(coef * self.feature_sd), kind="stable")[:10]
        width = max([len(self.names[i]) for i in order] + [7])
        lines = []
        if self.outputs:
            more = f", the first of {len(self.outputs)}" if len(self.outputs) > 1 else ""
            lines.append(f"positive coefficients speak for {self.outputs[0]}{more}")
        lines.append(f"{'feature':<{width}}  {'coefficient':>12}  {'per sd':>10}")
        lines += [
            f"{self.names[i]:<{width}}  {coef[i]:>12.4g}  {coef[i] * self.feature_sd[i]:>10.4g}"
            for i in order
        ]
        if len(self.names) > 10:
            lines.append(f"... {len(self.names) - 10} more")
        return "\n".join([*lines, "", str(self.certificate)])


@dataclass(frozen=True)
class WeightedColumns:
    """The column space of ``R X_c``, in which coefficients are found."""

    space: ColumnSpace
    mean: np.ndarray  # (p,): weighted means of the features, zero without an intercept
    root: np.ndarray  # (n, 1): square roots of the weights
    share: np.ndarray  # (n,): weights as shares of one, zero without an intercept
    exact: bool

    @classmethod
    def of(cls, X: Any, weight: np.ndarray, *, fit_intercept: bool) -> Self:
        """Column space of the weighted features, centred if there is an intercept."""
        share = weight / weight.sum() if fit_intercept else np.zeros(len(weight))
        if np.all(weight == weight[0]):  # equal weights cancel, and X need not be copied
            space = ColumnSpace.of(X, center=fit_intercept)
            mean = space.mean
            root = np.ones((len(weight), 1))
        else:
            root = np.sqrt(weight / weight.max())[:, None]
            if is_sparse(X):
                mean = X.transposed_times(share)
                space = ColumnSpace.of(X.shifted(mean).weighted(root), center=False)
            else:
                mean = share @ np.asarray(X, dtype=float)
                space = ColumnSpace.of(root * (X - mean), center=False)
        return cls(space, mean, root, share, space.rank >= len(weight) - int(fit_intercept))

    def centred(self, F: np.ndarray) -> np.ndarray:
        """Return ``R (F − mean)``."""
        return self.root * (F - self.share @ F)

    @property
    def coordinates(self) -> np.ndarray:
        """Centred rows in coordinates of the column space, ``R⁻¹ U Σ``: a rotation of them."""
        return self.space.basis * self.space.singular / self.root

    def fitted(self, f: np.ndarray) -> np.ndarray:
        """Return ``X γ`` up to the intercept that makes its mean that of ``f``: the linear part of ``f``."""
        return self.space.project(self.centred(f)) / self.root + self.share @ f

    def coefficients(self, f: np.ndarray) -> np.ndarray:
        """Return ``γ = X̃⁺ R f_c`` for values ``f`` of shape (n, q)."""
        return self.space.pinv_apply(self.centred(f))

    def kaf(self, F: np.ndarray) -> float:
        """Kernel accounted for, from features ``F`` of the kernel."""
        return 1.0 if self.exact else self.space.kaf(self.centred(F))

    def hold(self, F: np.ndarray) -> bool:
        """Whether the features ``F`` of a kernel are linear in the columns: no trace of it is outside."""
        F = self.centred(F)
        outside = F - self.space.project(F)
        return bool(np.vdot(outside, outside) <= 1e-13 * np.vdot(F, F))

    def projected_features(self, F: np.ndarray) -> np.ndarray:
        r"""Features of the projected kernel.

        They are :math:`R^{-1} U V E^{1/2}` with :math:`(U^T\tilde F)(U^T\tilde F)^T = V E V^T`.
        """
        U = self.space.basis
        G = U.T @ self.centred(F)
        V, singular, _ = np.linalg.svd(G, full_matrices=False)
        keep = singular > 1e-12 * singular.max(initial=0.0)
        return U @ (V[:, keep] * singular[keep]) / self.root


def in_sample_gap(kernel: np.ndarray, linear: np.ndarray, weight: np.ndarray) -> float:
    """Root mean squared difference in standard deviations of the kernel predictor, over all columns."""
    return float(np.sqrt(_unexplained(kernel, linear, weight)))


def fidelity(kernel: np.ndarray, linear: np.ndarray, weight: np.ndarray) -> float:
    """R² of the linear predictor taken as a prediction of the kernel predictor."""
    return 1.0 - _unexplained(kernel, linear, weight)


def _unexplained(kernel: np.ndarray, linear: np.ndarray, weight: np.ndarray) -> float:
    """Mean squared difference as a share of the kernel predictor's variance; zero where that is constant."""
    share = weight / weight.sum()
    spread = float(np.sum(share @ (kernel - share @ kernel) ** 2))
    gap = float(np.sum(share @ (kernel - linear) ** 2))
    return gap / spread if spread > 0 else 0.0


def held_out_fidelity(
    columns: WeightedColumns, weight: np.ndarray, scores: np.ndarray, folds: int, *, fit_intercept: bool
) -> float | None:
    """Fidelity of coefficients that are read from all folds but one, on that one; ``None`` for few rows."""
    n, coordinates = len(scores), columns.coordinates
    if n < 2 * folds or coordinates.shape[1] == 0:
        return None
    linear = np.empty_like(scores)
    for test in np.array_split(np.random.default_rng(0).permutation(n), folds):
        train = np.setdiff1d(np.arange(n), test)
        part = WeightedColumns.of(coordinates[train], weight[train], fit_intercept=fit_intercept)
        coef = part.coefficients(scores[train])
        linear[test] = (coordinates[test] - part.mean) @ coef + part.share @ scores[train]
    return fidelity(scores, linear, weight)
