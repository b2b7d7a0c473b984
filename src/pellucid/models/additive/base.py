"""What the additive kernel regressor and classifier share."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any, Literal, Self, overload

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from pellucid.data.parameters import check_count
from pellucid.data.table import MAX_LEVELS, Table, enter_table, read_plain
from pellucid.effects import Effect, Importances, Summary
from pellucid.effects.purify_grids import purify_jointly
from pellucid.effects.receipt import Receipt
from pellucid.effects.tables import TermTables
from pellucid.effects.terms import Term
from pellucid.linalg import calm_threads
from pellucid.models.additive.edit import Wishes, edited
from pellucid.models.additive.engine.state import Problem
from pellucid.models.additive.engine.structure import build_axes, fit_additive
from pellucid.models.additive.monotonicity import monotone_directions, monotone_rows
from pellucid.models.additive.reading import names_of
from pellucid.models.additive.refit import into_cone
from pellucid.models.additive.refit_spec import Edit, Recipe
from pellucid.models.additive.results import store_results
from pellucid.models.additive.summary import summarise


class AdditiveKernelBase(BaseEstimator):
    """Shared machinery: columns as they come, axes, fit per output, tables and what is read off them."""

    interactions: Any
    monotone: Any
    loss: Any
    tables_: TermTables
    importances_: Importances
    effects_: dict[str, Effect]
    receipt_: Receipt
    terms_: list[Term]
    term_names_: list[str]

    _prepare: Callable[..., tuple[list[Problem], list[str], float]]
    """Problems to fit, names of outputs, and the unit of the targets; subclasses say how."""

    # ------------------------------------------------------------------ entry
    def _read_rows(self, table: Table, weight: np.ndarray, *, reset: bool) -> np.ndarray:
        if reset:
            self.columns_ = table.learn(weight, most=MAX_LEVELS)
        return table.rows(self.columns_)

    def _new_rows(self, X: Any) -> np.ndarray:
        if "tables_" not in vars(self):  # a short cut, as this takes longer than to predict a row
            check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        rows = read_plain(X, self.columns_, None if names is None else names.tolist())
        if rows is None:
            return enter_table(self, X, reset=False).rows(self.columns_)
        if names is not None and type(X) is np.ndarray:
            warnings.warn(
                f"X does not have valid feature names, but {type(self).__name__} was fitted with feature "
                f"names",
                stacklevel=3,
            )
        return rows

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
        if isinstance(pair, str) or np.ndim(pair) != 1 or len(pair) != 2:
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
        if isinstance(name, bool) or not isinstance(name, Integral):
            raise ValueError(f"A feature is given by its name or number, got {name!r}.")
        if not 0 <= int(name) < len(names):
            raise ValueError(f"There is no feature number {name}; there are {len(names)} features.")
        return int(name)

    # -------------------------------------------------------------------- fit
    def _fit_problems(self, problems: Sequence[Problem], outputs: Sequence[str], unit: float = 1.0) -> None:
        """Fit one problem per output on the same rows, and read the result in units of the targets."""
        X, weight = problems[0].X, problems[0].weight
        directions = monotone_directions(self.monotone, self.columns_, self._feature)
        if directions and len(problems) > 1:
            raise ValueError(
                "monotone is for numbers and for two classes: of several classes not all can become "
                "more probable."
            )
        pairs, most = self._pairs()
        for pair in pairs or ():
            for j in set(pair) & set(directions):
                raise ValueError(
                    f"interactions names a pair of {self.columns_[j].name!r}, which is monotone; a monotone "
                    f"feature takes part in no pair."
                )
        levels = [None if column.levels is None else len(column.levels) for column in self.columns_]
        # a cone needs all columns: what is smooth may be zero without the constraints, and not with them
        axes = replace(build_axes(X, weight, levels), whole=tuple(sorted(directions)))
        with calm_threads(X):
            free = [
                fit_additive(problem, axes, pairs, most, alone=sorted(directions)) for problem in problems
            ]
            states = [
                into_cone(p, state, monotone_rows(state.basis, directions))
                for p, state in zip(problems, free, strict=True)
            ]
        if not all(state.converged for state in free):
            warnings.warn(
                "The fit was stopped before it reached the minimum of its loss: predictions far from the "
                "mean are not to be trusted. Look for targets or offsets of extreme size.",
                ConvergenceWarning,
                stacklevel=3,
            )
        self._recipe = Recipe.of(states, (), directions)
        self.edits_: list[Edit] = []
        if unit != 1.0:
            problems = [problem.in_units(unit) for problem in problems]
            states, free = ([state.in_units(unit) for state in group] for group in (states, free))
        store_results(self, problems, states, axes, outputs, free)

    # ------------------------------------------------------------------- edit
    def edit(
        self,
        X: Any,
        y: Any,
        *,
        drop: Any = (),
        freeze: Any = (),
        smooth: Any = None,
        cap: Any = None,
        sample_weight: Any = None,
        **known: Any,
    ) -> Self:
        """A new model in which some terms are changed as told and all others are fitted again.

        The terms that are fitted again keep their columns and ridges; the intercept is fitted again too. This
        model stays as it is.

        Parameters
        ----------
        X, y : as in :meth:`fit`
            The rows to fit to, usually those of the training.
        drop : list of terms
            Terms to leave out. A term is given by its name, such as ``"age"`` or ``"age × income"``, or as a
            feature or a pair of features.
        freeze : list of terms
            Terms that stay exactly as they are, in this and all later edits.
        smooth : dict from terms to factors
            Terms whose ridges are multiplied: above one they become smoother, below one rougher.
        cap : dict from terms to pairs (lowest, highest)
            Terms whose values are cut off at limits, ``None`` for no limit; they are frozen from then on, and
            their mean need not be zero any more.
        sample_weight : array-like of shape (n,), optional
            As in :meth:`fit`.
        **known
            ``offset`` and ``exposure`` as in :meth:`fit`.

        Returns
        -------
        The new model; its ``edits_`` say what was done.
        """
        check_is_fitted(self)
        wishes = Wishes.read(self._term, drop, freeze, smooth, cap)
        return edited(self, wishes, X, y, sample_weight, known)

    def _term(self, key: Any) -> Term:
        """A term of this model by its name or by its features."""
        if isinstance(key, str) and key in self.term_names_:
            return self.terms_[self.term_names_.index(key)]
        parts = [key] if isinstance(key, str) or np.ndim(key) == 0 else list(key)
        try:
            term = tuple(sorted(self._feature(part) for part in parts))
        except ValueError:
            term = ()
        if term not in self.terms_:
            raise ValueError(f"The model has no term {key!r}; its terms are {self.term_names_[:20]}.")
        return term

    def _name(self, term: Term) -> str:
        return names_of([term], self.columns_)[0]

    # ---------------------------------------------------------------- reading
    def compiled(self) -> TermTables:
        """The model as tables: one number per point of each term."""
        check_is_fitted(self)
        return self.tables_

    @overload
    def contributions(self, X: Any, *, return_predictor: Literal[False] = ...) -> np.ndarray: ...
    @overload
    def contributions(self, X: Any, *, return_predictor: Literal[True]) -> tuple[np.ndarray, np.ndarray]: ...
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
        if return_predictor:
            return self.tables_.contributions_and_predictor(rows)
        return self.tables_.contributions(rows)

    def _predictor(self, X: Any) -> np.ndarray:
        rows = self._new_rows(X)
        return self.tables_.predictor(rows)

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

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags
