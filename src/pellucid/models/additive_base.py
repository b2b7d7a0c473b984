"""What the additive kernel regressor and classifier share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from pellucid._validation import check_count
from pellucid.effects import Effect, Importances, Summary
from pellucid.effects.receipt import Receipt
from pellucid.effects.tables import TermTables
from pellucid.effects.terms import Term
from pellucid.features.table import learn_columns, read_table
from pellucid.features.term_basis import Axes
from pellucid.models.additive_engine import Problem, State, build_axes, fit_additive
from pellucid.models.additive_reading import (
    compile_tables,
    leave_one_out,
    loo_report,
    loo_rows,
    names_of,
    read_effects,
    read_importances,
    several_classes,
    term_tests,
)
from pellucid.models.additive_receipt import make_receipt


class AdditiveKernelBase(BaseEstimator):
    """Shared machinery: columns as they come, axes, fit per output, tables and what is read off them."""

    interactions: Any
    monotone: Any
    loss: Any
    tables_: TermTables
    importances_: Importances
    effects_: dict[str, Effect]
    receipt_: Receipt

    # ------------------------------------------------------------------ entry
    def _enter(self, X: Any, weight: np.ndarray | None = None, *, reset: bool) -> Any:
        """Check a table and return it as an array or data frame whose columns can be read."""
        frame = nw.from_native(X, eager_only=True, pass_through=True)
        if isinstance(frame, nw.DataFrame):
            validate_data(self, X, reset=reset, skip_check_array=True)
            if len(frame) == 0:
                raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
            if len(frame.columns) == 0:
                raise ValueError("Found array with 0 feature(s) while a minimum of 1 is required.")
            return X
        return validate_data(
            self, X, reset=reset, dtype=None, ensure_all_finite="allow-nan" if _is_numeric(X) else False
        )

    def _learn_rows(self, X: Any, weight: np.ndarray) -> np.ndarray:
        names = getattr(self, "feature_names_in_", None)
        self.columns_ = learn_columns(X, weight, None if names is None else list(names))
        return read_table(X, self.columns_)

    def _new_rows(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return read_table(self._enter(X, reset=False), self.columns_)

    def _pairs(self) -> tuple[list[Term] | None, int | None]:
        """Pairs that may enter (None: all), and how many may stay (None: as many as the data support)."""
        wanted = self.interactions
        if isinstance(wanted, str):
            if wanted != "auto":
                raise ValueError(
                    f"interactions must be 'auto', a number, or a list of pairs of features, got {wanted!r}."
                )
            return None, None
        if isinstance(wanted, bool | np.bool_):
            return None, None if wanted else 0
        if np.ndim(wanted) == 0 and not isinstance(wanted, Sequence):
            check_count(wanted, "interactions", 0)
            return None, int(wanted)
        return sorted({self._pair(pair) for pair in wanted}), None

    def _pair(self, pair: Any) -> Term:
        if isinstance(pair, str) or len(pair) != 2:
            raise ValueError(f"interactions holds {pair!r}; each entry must be a pair of features.")
        p, q = sorted(self._feature(name) for name in pair)
        if p == q:
            raise ValueError(f"interactions holds {pair!r}: a pair needs two different features.")
        return (p, q)

    def _feature(self, name: Any) -> int:
        names = [column.name for column in self.columns_]
        if isinstance(name, str):
            if name not in names:
                raise ValueError(f"There is no feature {name!r}; the features are {names[:20]}.")
            return names.index(name)
        if not 0 <= int(name) < len(names):
            raise ValueError(f"There is no feature number {name}; there are {len(names)} features.")
        return int(name)

    # -------------------------------------------------------------------- fit
    def _fit_problems(self, problems: Sequence[Problem], outputs: Sequence[str], unit: float = 1.0) -> None:
        """Fit one problem per output on the same rows, and read the result in units of the targets."""
        X, weight = problems[0].X, problems[0].weight
        pairs, most = self._pairs()
        levels = [None if column.levels is None else len(column.levels) for column in self.columns_]
        axes = build_axes(X, weight, levels)
        states = [fit_additive(problem, axes, pairs, most) for problem in problems]
        if unit != 1.0:
            problems = [problem.in_units(unit) for problem in problems]
            states = [state.in_units(unit) for state in states]
        self._read(problems, states, axes, outputs)

    def _read(
        self, problems: Sequence[Problem], states: Sequence[State], axes: Axes, outputs: Sequence[str]
    ) -> None:
        X, weight = problems[0].X, problems[0].weight
        self.tables_ = tables = compile_tables(states, self.columns_, axes)
        self.terms_ = list(tables.terms)
        self.term_names_ = names_of(tables.terms, self.columns_)
        self.intercept_ = tables.intercept
        self.effects_ = read_effects(tables, states, X, weight, outputs)
        self.importances_ = read_importances(tables, states)
        self.edf_ = float(np.mean([state.fit.edf.sum() + 1.0 for state in states]))
        self.scale_ = float(np.mean([state.fit.scale for state in states]))
        self.tests_ = [term_tests(tables, state) for state in states]
        self.loo_rows_ = rows = loo_rows(problems[0], states)
        self._loo_weight = weight[rows]
        held_out = [leave_one_out(p, s, rows) for p, s in zip(problems, states, strict=True)]
        reports = [loo_report(p, eta, rows, h) for p, (h, eta) in zip(problems, held_out, strict=True)]
        self.loo_ = reports[0]
        if len(reports) > 1:
            scores = np.column_stack([eta for _, eta in held_out])
            self.loo_ = several_classes(reports, problems, scores, rows)
        self.receipt_ = make_receipt(problems[0], states[0], tables, rows, held_out[0][1])
        self.n_rows_ = len(X)

    # ---------------------------------------------------------------- reading
    def compiled(self) -> TermTables:
        """The model as tables: one number per point of each term."""
        check_is_fitted(self)
        return self.tables_

    def contributions(self, X: Any) -> np.ndarray:
        """What each term adds to the linear predictor of each row.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n, n_terms), or (n, n_terms, n_classes) for more than two classes
            Together with ``intercept_`` (and the offset, where there is one) they sum to the linear predictor.
        """
        return self._rows_and(X)[1]

    def _rows_and(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        rows = self._new_rows(X)
        return rows, self.tables_.contributions(rows)

    def _predictor(self, X: Any) -> np.ndarray:
        return self._rows_and(X)[1].sum(axis=1) + self.intercept_

    def _facts(self) -> list[tuple[str, object]]:
        mains = sum(len(term) == 1 for term in self.terms_)
        return [
            ("rows", self.n_rows_),
            ("loss", str(self.loss_.name)),
            ("terms", f"{mains} main effects, {len(self.terms_) - mains} pairs"),
            ("intercept", self.intercept_),
            ("effective degrees of freedom", self.edf_),
            ("scale", self.scale_),
        ]

    def summary(self, n: int = 15) -> Summary:
        """What was fitted: terms with degrees of freedom and tests, scale, held-out fit; print it."""
        check_is_fitted(self)
        facts = self._facts()
        facts.append(("receipt", "\n" + _indent(str(self.receipt_))))
        facts.append(("terms by importance", "\n" + _indent(self._term_table(n))))
        return Summary(type(self).__name__, facts)

    def _term_table(self, n: int) -> str:
        share = self.importances_
        best = share.order[:n]
        width = max([len(self.term_names_[t]) for t in best] + [4])
        lines = [f"{'':<{width}}   share     edf        p"]
        for t in best:
            p = min(tests[t][2] for tests in self.tests_) * len(self.tests_)
            edf = np.mean([tests[t][1] for tests in self.tests_])
            shown = "<1e-4" if p < 1e-4 else f"{min(p, 1.0):.4f}"
            lines.append(f"{self.term_names_[t]:<{width}}  {100 * share[t]:5.1f} %  {edf:6.1f}  {shown:>7}")
        if len(self.terms_) > len(best):
            lines.append(f"... and {len(self.terms_) - len(best)} more")
        return "\n".join(lines)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


def _is_numeric(X: Any) -> bool:
    return getattr(getattr(X, "dtype", None), "kind", "f") in "biufc"


def _indent(text: str) -> str:
    return "\n".join("  " + line for line in text.splitlines())
