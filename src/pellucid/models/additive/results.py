"""What users read off fitted additive models: the attributes of an estimator, and the methods on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal, overload

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from pellucid.data.table import Column
from pellucid.data.unseen import tells_unseen
from pellucid.effects import Effect, Importances, Summary
from pellucid.effects.loo import LeaveOneOut
from pellucid.effects.purify_grids import purify_jointly
from pellucid.effects.receipt import Receipt
from pellucid.effects.tables import TermTables
from pellucid.effects.terms import Term
from pellucid.losses import Loss
from pellucid.models.additive.engine.all_rows import AllRows
from pellucid.models.additive.engine.held_out import leave_one_out, loo_report, loo_rows
from pellucid.models.additive.from_source import explained_of_all, masses_of
from pellucid.models.additive.reading import (
    compile_tables,
    names_of,
    read_effects,
    read_importances,
    row_masses,
    term_tests,
)
from pellucid.models.additive.receipt import explained, make_receipt, receipt_of_moments
from pellucid.models.additive.refit_spec import Edit, Fits, Frozen, RefitSpec
from pellucid.models.additive.summary import summarise

_OF_ROWS = ("loo_", "loo_rows_", "_loo_weight", "loo_deviance_explained_")
"""What only rows can tell."""


class AdditiveResults(BaseEstimator):
    """A fitted additive model as users read it; its estimators document the attributes."""

    columns_: tuple[Column, ...]
    loo_rows_: np.ndarray
    loss_: Loss
    losses_: list[Loss]
    outputs_: list[str]
    edits_: list[Edit]
    updatable: bool = False
    """Whether sums over rows are kept; a parameter of estimators that can."""
    fold_residuals_: np.ndarray | None = None
    fold_deviance_explained_: float | None = None
    _new_rows: Callable[[Any], np.ndarray]
    """A table as a matrix of numbers and codes."""

    def _store(self, fits: Fits, unit: Any) -> None:
        """Store what is read off fits of targets in some unit."""
        self._refit_spec: RefitSpec = RefitSpec.of(fits, with_bases=self.updatable)
        rows = fits.problems[0]
        self.n_rows_ = len(rows)
        of_all = None
        if isinstance(rows, AllRows):
            masses = masses_of(rows, fits.terms, fits.axes)
            of_all = explained_of_all(fits.problems, fits.states)
        else:
            masses = row_masses(fits.terms, fits.axes, rows.X, rows.weight)
        fits = fits.at_hand().in_units(unit)
        self.losses_ = [problem.loss for problem in fits.problems]
        self.loss_ = self.losses_[0]
        self.outputs_ = list(fits.outputs)
        self._store_terms(fits, masses)
        self._store_held_out(fits)
        if isinstance(rows, AllRows) and of_all is not None:
            self.deviance_explained_, self.loo_rows_ = of_all, rows.places[self.loo_rows_]

    def _store_moments(self, fits: Fits, masses: Mapping[Term, np.ndarray], n_rows: int) -> None:
        """Store what is read off a fit to sums over rows, in units of the targets; the rest is gone."""
        (state,) = fits.states
        self._store_terms(fits, masses)
        for name in _OF_ROWS:
            self.__dict__.pop(name, None)
        self.fold_residuals_ = self.fold_deviance_explained_ = None
        square = state.moments.square
        self.deviance_explained_ = 1.0 - state.fit.rss / square if square > 0 else 0.0
        self.receipt_: Receipt = receipt_of_moments(state)
        self.n_rows_ = n_rows

    def __getattr__(self, name: str) -> Any:
        if name == "losses_" and "loss_" in vars(self):  # of a file of an earlier version, as the next
            return [self.loss_]
        if name == "outputs_" and "effects_" in vars(self):
            return list(next((effect.outputs for effect in self.effects_.values()), ()))
        if name in _OF_ROWS and "sums_" in vars(self):
            raise AttributeError(
                f"This model has no {name}: it was updated or merged from sums, and leaving rows out needs "
                f"the rows. refit(X, y) with all rows gives it; pellucid.conformal(model, X, y) gives "
                f"intervals from rows held back; receipt_ has the share explained by generalised "
                f"cross-validation."
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _store_terms(self, fits: Fits, masses: Mapping[Term, np.ndarray]) -> None:
        problems, states, frozen = fits.problems, fits.states, fits.frozen
        summands, free = fits.summands(states), fits.summands(fits.free)
        tables = compile_tables(summands, self.columns_, fits.axes, fits.shapes.moves, frozen.tables)
        self.tables_: TermTables = tables
        self.terms_: list[Term] = list(tables.terms)
        self.term_names_: list[str] = tables.names
        self.intercept_ = tables.intercept
        effects = read_effects(tables, free, masses, fits.outputs)
        for term, name in zip(self.terms_, self.term_names_, strict=True):
            if term in frozen.tables:
                effects[name] = replace(effects[name], se=frozen.effects[name].se)
        self.effects_: dict[str, Effect] = effects
        self.tests_ = [term_tests(tables, parts, frozen.tables) for parts in free]
        fixed: list[dict[Term, float]] = [{} for _ in states]
        if fits.centre is not None:
            everything = Frozen.of(tables, {}, tables.terms, {}, problems[0].X)
            fixed = [everything.variances(k, p.weight) for k, p in enumerate(problems)]
        elif frozen.tables:
            fixed = [frozen.variances(k, p.working(states[k].eta)[0]) for k, p in enumerate(problems)]
        self.importances_: Importances = read_importances(tables, summands, fixed)
        self.edf_ = float(np.mean([sum(state.fit.edf.sum() for state in parts) + 1.0 for parts in summands]))
        self.scale_ = float(np.mean([state.fit.scale for state in states]))

    def _store_held_out(self, fits: Fits) -> None:
        problems, states, given = fits.problems, fits.states, fits.given
        self.loo_rows_ = rows = loo_rows(problems[0], states)
        self._loo_weight = problems[0].weight[rows]
        pairs = [leave_one_out(p, s, rows) for p, s in zip(problems, states, strict=True)]
        leverages, etas = ([pair[i] for pair in pairs] for i in range(2))
        if fits.centre is not None:  # both parts of a row's predictor know its target
            leverages = [1.0 - (1.0 - h) * (1.0 - fits.centre.leverage[rows]) for h in leverages]
        self.loo_: LeaveOneOut = loo_report([p.part(rows) for p in problems], etas, leverages)
        self.deviance_explained_ = explained(given, fits.fitted)
        self.loo_deviance_explained_ = explained(given, etas, rows)
        self.receipt_ = make_receipt(fits, self.tables_, rows, etas)
        folds = [state.fold_eta for state in states if state.fold_eta is not None]
        self.fold_residuals_ = self.fold_deviance_explained_ = None
        if len(folds) == len(states):
            self.fold_residuals_ = loo_report(problems, folds, folds).residuals
            self.fold_deviance_explained_ = explained(given, folds)
            self._fold_weight = problems[0].weight

    # ---------------------------------------------------------------- reading
    def compiled(self) -> TermTables:
        """The model as tables: one number per point of each term."""
        check_is_fitted(self)
        return self.tables_

    @overload
    def contributions(self, X: Any, *, return_predictor: Literal[False] = ...) -> np.ndarray: ...
    @overload
    def contributions(self, X: Any, *, return_predictor: Literal[True]) -> tuple[np.ndarray, np.ndarray]: ...
    @tells_unseen
    def contributions(
        self, X: Any, *, return_predictor: bool = False
    ) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """What each term adds to the linear predictor of each row.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Rows.
        return_predictor : bool, default=False
            Whether the linear predictor is returned too. One call for both takes about half the time of two.

        Returns
        -------
        contributions : ndarray of shape (n, n_terms), or (n, n_terms, n_classes) for more than two classes
            Together with ``intercept_`` (and the offset, where there is one) they sum to the linear
            predictor.
        predictor : ndarray of shape (n,), or (n, n_classes)
            If asked for: the linear predictor without offset, which for the squared loss is the prediction
            and for classes what ``decision_function`` returns.
        """
        rows = self._new_rows(X)
        tables = self.tables_
        return tables.contributions_and_predictor(rows) if return_predictor else tables.contributions(rows)

    def effects(self, *, purify: bool = False, against: str = "joint") -> dict[str, Effect]:
        """The fitted function of each term on a grid: ``effects_``, or purified.

        Parameters
        ----------
        purify : bool, default=False
            Whether surfaces are made orthogonal to all functions of one of their features under the joint
            distribution of the rows, and curves take what they lose; the sum changes by a constant only.
        against : {"joint", "marginals"}, default="joint"
            The distribution to purify against. Under the product of the two features' own distributions
            surfaces of this model are pure as they are.

        Returns
        -------
        dict from the name of a term to its Effect
        """
        check_is_fitted(self)
        if against not in ("joint", "marginals"):
            raise ValueError(f"against must be 'joint' or 'marginals', got {against!r}.")
        return purify_jointly(self.effects_) if purify and against == "joint" else dict(self.effects_)

    def summary(self, n: int = 15) -> Summary:
        """What was fitted: terms with degrees of freedom and tests, scale, held-out fit; print it."""
        check_is_fitted(self)
        return summarise(self, n)

    def _name(self, term: Term) -> str:
        return names_of([term], self.columns_)[0]
