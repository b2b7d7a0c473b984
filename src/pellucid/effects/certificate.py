"""How closely coefficients follow the kernel model that they are read from, on rows that neither has seen."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pellucid.data.labels import winner
from pellucid.effects.linear import Certificate, WeightedColumns, fidelity, in_sample_gap
from pellucid.solvers import GLMProblem
from pellucid.solvers.alpha_search import coefficient_columns, solve


@dataclass(frozen=True)
class Reading:
    """A kernel model and its linear reading, ready to be fitted again to some of the rows."""

    F: np.ndarray  # (n, r): features of the kernel
    columns: WeightedColumns
    problems: Sequence[GLMProblem]  # one, or one per class
    exact: bool  # whether the kernel is linear in the columns, as far as the training rows can tell
    kernel_alpha: float
    alpha: float  # of the projected model
    max_iter: int

    def certificate(
        self, kernel: np.ndarray, linear: np.ndarray, folds: int, *, classes: bool
    ) -> Certificate:
        """Compare the fitted scores of both, and if there are ``folds``, scores of rows held out of both."""
        weight = self.problems[0].weight
        gap = in_sample_gap(kernel, linear, weight)
        kaf = 1.0 if self.exact else self.columns.kaf(self.F)
        if not folds or len(self.F) < 2 * folds or self.columns.space.rank == 0:
            return Certificate(self.exact, kaf, gap, None, None, None, None, "not computed")
        linear, kernel = self._held_out(folds)
        agreement = float(weight @ (winner(linear) == winner(kernel)) / weight.sum()) if classes else None
        score = self._accuracy if classes else self._explained
        return Certificate(
            self.exact,
            kaf,
            gap,
            fidelity(kernel, linear, weight),
            agreement,
            score(linear),
            score(kernel),
            f"{folds}-fold",
        )

    def _held_out(self, folds: int) -> tuple[np.ndarray, np.ndarray]:
        """Linear and kernel scores of each row by models that never saw it, at the alphas in use."""
        F, rows = self.F, self.columns.coordinates
        n = len(rows)
        linear, kernel = [], []
        order = np.random.default_rng(0).permutation(n)
        for test in np.array_split(order, folds):
            train = np.setdiff1d(np.arange(n), test)
            problems = [p.rows(train) for p in self.problems]
            Z = F[train]
            delta, level = self._solve(Z, problems, self.kernel_alpha)
            kernel.append(F[test] @ delta + level)
            p = problems[0]
            columns = WeightedColumns.of(rows[train], p.weight, fit_intercept=p.fit_intercept)
            if not self.exact:
                Z = columns.projected_features(Z)
                delta, level = self._solve(Z, problems, self.alpha)
            f = Z @ delta
            linear.append((rows[test] - columns.mean) @ columns.coefficients(f) + columns.share @ f + level)
        back = np.argsort(order)
        return np.concatenate(linear)[back], np.concatenate(kernel)[back]

    def _solve(
        self, Z: np.ndarray, problems: Sequence[GLMProblem], alpha: float
    ) -> tuple[np.ndarray, np.ndarray]:
        return coefficient_columns([solve(Z, p, alpha, max_iter=self.max_iter) for p in problems])

    def _accuracy(self, scores: np.ndarray) -> float:
        p = self.problems[0]
        truth = p.y if len(self.problems) == 1 else np.argmax([p.y for p in self.problems], axis=0)
        known = p.offset if p.offset.ndim == 2 else p.offset[:, None]
        return float(p.weight @ (winner(scores + known) == truth) / p.weight.sum())

    def _explained(self, scores: np.ndarray) -> float:
        p = self.problems[0]
        return p.loss.explained(p.y, p.offset + scores[:, 0], p.weight, p.offset)
