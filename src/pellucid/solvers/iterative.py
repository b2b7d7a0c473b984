r"""Kernel ridge by preconditioned conjugate gradients: the kernel matrix is multiplied, never stored.

With the notation of :mod:`pellucid.linalg.centering`, the system is
:math:`(P R K R P + \alpha I)\,\tilde a = P R y`, and only products with ``K`` are needed. One low-rank
preconditioner serves every α.

**What the tolerance means.** Let :math:`\rho` be the residual of the system. The residuals of the model and
its fitted values at the training rows differ from the exact ones by less than :math:`\|\rho\|` in norm, since
neither :math:`K(K + \alpha I)^{-1}` nor :math:`\alpha(K + \alpha I)^{-1}` lengthens a vector. A tolerance of
1e-4 means: off by a ten-thousandth of the targets' standard deviation, in root mean square, at most.

**Precision.** Steps may use a coarse product (float32 blocks). What is left over is computed with the fine
product (float64), and solved for in turn, until it is below the tolerance: so the coarse product decides how
many rounds it takes, not how good the answer is. Where rounds bring little, the fine product takes over.

**Leave-one-out** needs the diagonal of :math:`B = (PRKRP + \alpha I)^{-1}`. That of the preconditioner is
known; the difference is estimated with random signs :math:`z`,

.. math:: B_{ii} \approx (M^{-1})_{ii} + \tfrac1t \sum_{k=1}^t z_{ki}\, [(B - M^{-1}) z_k]_i ,

whose systems are solved along with that of the targets. The spread over the ``t`` samples, by the jackknife,
says how far the leave-one-out error may be off. Where the noise of the samples is much of what the estimates
vary by, they are drawn towards a line in the slack of the preconditioner.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from pellucid.exceptions import IndefiniteKernelError
from pellucid.linalg import LowRank, conjugate_gradients

_ROUNDS = 12  # of solving for what a coarser product left
_GAIN = 0.3  # a round that leaves more than this share of the residual is not worth another
_COARSE_GOAL = 1e-4  # of the residual, within one round: float32 rarely carries further
_PROBE_TOLERANCE = 3e-3
_STREAM = 71_003

Product = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class IterativeFit:
    """The solution at one ridge strength, of ``n`` rows and ``q`` outputs."""

    alpha: float
    residuals: np.ndarray  # (n, q): y − ŷ
    weight: np.ndarray  # (n,)
    quadratic: np.ndarray  # (q,): yᵀ (K + α S⁻¹)⁻¹ y
    samples: np.ndarray  # (t, n): estimates of the slack, each from one probe
    prior: np.ndarray  # (n,): the slack that the preconditioner would have
    least: np.ndarray  # (n,): the slack cannot be smaller
    n_iter: int
    residual: float  # relative, of the linear system, in the fine product
    single: bool  # whether the coarse product sufficed for the steps

    @property
    def dual_coef(self) -> np.ndarray:
        """Dual coefficients, of shape (n, q)."""
        return self.weight[:, None] * self.residuals / self.alpha

    @property
    def slack(self) -> np.ndarray:
        """Estimated one minus the leverages, of shape (n,)."""
        return self._clipped(self._steadied(self.samples)[0])

    @property
    def held_out_residuals(self) -> np.ndarray:
        """Estimated residuals with one observation of each row left out, of shape (n, q)."""
        return self._held_out(self.slack)

    def _clipped(self, slack: np.ndarray) -> np.ndarray:
        return np.clip(slack, self.least, 1.0)

    def _held_out(self, slack: np.ndarray) -> np.ndarray:
        m = np.maximum(1.0, self.weight)
        return self.residuals * (m / (m - 1.0 + self._clipped(slack)))[:, None]

    def _steadied(self, samples: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """Means over probes drawn to a line in the preconditioner's slack, the line, and noise left."""
        raw = samples.mean(axis=0)
        prior = self.prior - self.prior.mean()
        size = float(prior @ prior)
        line = raw.mean() + (float(prior @ raw) / size * prior if size > 0 else 0.0)
        line = np.maximum(line, 0.2 * raw.mean())
        spread = float(np.mean((raw - line) ** 2))
        noise = float(samples.var(axis=0, ddof=1).mean()) / len(samples) if len(samples) > 1 else 0.0
        keep = max(1.0 - noise / spread, 0.0) if spread > 0 else 1.0
        # what is within twice its noise of zero is not known to be near zero, where a quotient would explode
        return (
            np.maximum(line + keep * (raw - line), np.minimum(line, 2.0 * np.sqrt(noise))),
            line,
            keep * noise,
        )

    def loo(self) -> tuple[np.ndarray, np.ndarray]:
        """Leave-one-out mean squared error and twice its standard error by the probes, each of shape (q,)."""
        share, t = self.weight / self.weight.sum(), len(self.samples)

        def error(slack: np.ndarray) -> np.ndarray:
            return share @ self._held_out(slack) ** 2

        steadied, line, noise = self._steadied(self.samples)
        whole = error(steadied)
        if t == 1:
            return whole, np.zeros_like(whole)
        without = np.array([error(self._steadied(np.delete(self.samples, k, axis=0))[0]) for k in range(t)])
        by_probes = (t - 1) / t * np.sum((without - without.mean(axis=0)) ** 2, axis=0)
        # differences between rows that were taken out along with the noise: at most those that were left in
        # and what noise of variance v is left moves the mean of 1/slack², by 3v/slack⁴
        left = share @ (self._held_out(steadied) ** 2 * (3.0 * noise / self._clipped(steadied)[:, None] ** 2))
        bounds = (whole - error(line)) ** 2 + left**2
        return whole, 2.0 * np.sqrt(by_probes + bounds)

    @property
    def gcv(self) -> np.ndarray:
        """Generalised cross-validation error, of shape (q,)."""
        share, n = self.weight / self.weight.sum(), np.maximum(1.0, self.weight).sum()
        room = 1.0 - (len(self.weight) - self.slack.sum()) / n
        return share @ self.residuals**2 / max(room, np.finfo(float).eps) ** 2


@dataclass
class IterativeSolver:
    """One kernel matrix, known by its products, and a low-rank factor of it."""

    product: Product  # V of shape (n, k) to K V, as exact as it gets
    coarse: Product | None  # the same, faster and less exact; None where nothing is gained
    weight: np.ndarray  # (n,)
    diagonal: np.ndarray  # (n,): of K
    factor: LowRank  # of P R K R P
    fit_intercept: bool
    n_probes: int = 16
    random_state: int = 0
    max_iter: int = 1000
    step: Callable[[float], None] = lambda residual: None
    _starts: dict[str, np.ndarray] = field(default_factory=dict, init=False)  # the last solution, to start

    def __post_init__(self) -> None:
        self.root = np.sqrt(self.weight)
        self.q = self.root / np.linalg.norm(self.root) if self.fit_intercept else None
        # a stream of its own: with a plain seed, signs can be those of data simulated from the same seed
        rng = np.random.default_rng([_STREAM, self.random_state])
        signs = rng.integers(0, 2, (len(self.weight), self.n_probes))
        self.probes = 2.0 * signs - 1.0

    def project(self, V: np.ndarray) -> np.ndarray:
        """Return ``P V``."""
        return V if self.q is None else V - np.outer(self.q, self.q @ V)

    def fit(self, Y: np.ndarray, alpha: float, *, tol: float, samples: bool = True) -> IterativeFit:
        """Solve for targets of shape (n, q); without ``samples`` the slack is one."""
        Z = self.project(self.root[:, None] * Y)
        inverse = self.factor.inverse(alpha)

        def precondition(V: np.ndarray) -> np.ndarray:
            return self.project(inverse(V))

        V = self.project(self.probes) if samples else self.probes[:, :0]
        start = precondition(V)
        x, solved, n_iter, residual, single = self._solve(Z, V, start, alpha, precondition, tol)
        found, prior, least = np.ones((1, len(Y))), np.ones(len(Y)), np.ones(len(Y))
        if samples:
            prior = self._known(alpha)
            found = prior + alpha * (self.probes * (solved - start)).T
            least = np.minimum(alpha / (self.weight * self.diagonal + alpha), 1.0)
        return IterativeFit(
            alpha,
            alpha * x / self.root[:, None],
            self.weight,
            np.einsum("nq,nq->q", Z, x),
            found,
            prior,
            least,
            n_iter,
            residual,
            single,
        )

    def intercept(self, Y: np.ndarray, dual_coef: np.ndarray, residuals: np.ndarray) -> np.ndarray:
        """Return the level that goes with the coefficients: from ``y = K a + b + r``, by one product."""
        if self.q is None:
            return np.zeros(Y.shape[1])
        return self.weight @ (Y - residuals - self.product(dual_coef)) / self.weight.sum()

    def _operator(self, product: Product, alpha: float) -> Product:
        def apply(V: np.ndarray) -> np.ndarray:
            W = self.root[:, None] * product(self.root[:, None] * self.project(V))
            return self.project(W) + alpha * V

        return apply

    def _solve(
        self,
        Z: np.ndarray,
        V: np.ndarray,
        solved: np.ndarray,
        alpha: float,
        precondition: Product,
        tol: float,
    ) -> tuple[np.ndarray, np.ndarray, int, float, bool]:
        """Solutions for the targets, round by round, and for the probes, along with the first round."""
        size = np.linalg.norm(Z, axis=0)
        unit = np.where(size > 0, size, 1.0)
        fine = self._operator(self.product, alpha)
        x = self._starts.get("targets", np.zeros_like(Z))
        rest = Z - fine(x) if x.any() else Z
        if np.linalg.norm(rest) > np.linalg.norm(Z):
            x, rest = np.zeros_like(Z), Z
        off, n_iter, product = float(np.max(np.linalg.norm(rest, axis=0) / unit)), 0, self.coarse
        for k in range(_ROUNDS):
            if off <= tol and (k or not V.size):
                break
            goal = 0.5 * tol / max(off, tol)
            if product is not None:
                goal = max(goal, _COARSE_GOAL)
            probes = (V, solved) if k == 0 else (V[:, :0], solved[:, :0])
            found = conjugate_gradients(
                fine if product is None else self._operator(product, alpha),
                np.hstack([rest, probes[0]]),
                precondition=precondition,
                start=np.hstack([np.zeros_like(rest), probes[1]]) if k == 0 and V.size else None,
                tol=np.append(np.full(Z.shape[1], goal), np.full(probes[0].shape[1], _PROBE_TOLERANCE)),
                max_iter=self.max_iter,
                step=self.step,
            )
            n_iter += found.n_iter
            if k == 0:
                solved = found.x[:, Z.shape[1] :]
            step = found.x[:, : Z.shape[1]]
            left = Z - fine(x + step)
            now = float(np.max(np.linalg.norm(left, axis=0) / unit))
            if now < off:
                x, rest = x + step, left
            elif product is None:
                break
            if now > _GAIN * off:
                if product is None:
                    break
                product = None
            off = min(now, off)
        if off > 1.0 - 1e-12 and Z.any():
            raise IndefiniteKernelError(
                "Conjugate gradients made no way: the kernel matrix has negative eigenvalues, or alpha is so "
                "small that rounding makes it look so. Raise alpha, or use solver='cholesky'."
            )
        self._starts["targets"] = x
        return x, solved, n_iter, off, product is not None

    def _known(self, alpha: float) -> np.ndarray:
        """The diagonal of ``α P M⁻¹ P``, whose factor is orthogonal to ``q``, of shape (n,)."""
        known = self.factor.inverse_diagonal(alpha)
        if self.q is not None:
            known = known - self.q**2 * self.factor.rest(alpha)
        return alpha * known
