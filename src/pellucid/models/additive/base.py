"""What the additive kernel regressor and classifier share: tables as they come, fits, edits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from pellucid._callers import warn_caller
from pellucid.data.coded import Reading
from pellucid.data.first_look import most_at_hand
from pellucid.data.parameters import check_count
from pellucid.data.roles import takes_roles
from pellucid.data.source import Source
from pellucid.data.table import MAX_LEVELS, Table, enter_table, read_plain
from pellucid.data.unseen import tells_unseen
from pellucid.effects.terms import Term, pair_named
from pellucid.features.term_basis import Axes
from pellucid.linalg import limited_threads
from pellucid.models.additive.centre import Centre, central, departs
from pellucid.models.additive.edit import Wishes, edited
from pellucid.models.additive.engine.all_rows import Rows, adds_up
from pellucid.models.additive.engine.held_out import one_per_class
from pellucid.models.additive.engine.pace import Pace
from pellucid.models.additive.engine.state import Problem
from pellucid.models.additive.engine.structure import build_axes, fit_additive
from pellucid.models.additive.from_source import Prepared, prepare
from pellucid.models.additive.monotonicity import wished_shapes
from pellucid.models.additive.refit import widened
from pellucid.models.additive.refit_spec import Fits, Frozen
from pellucid.models.additive.summary import too_few_rows
from pellucid.models.additive.updating import Refitting
from pellucid.models.common.from_formula import FromFormula


class AdditiveKernelBase(FromFormula, Refitting):
    """Shared machinery: columns as they come, axes, fit per output, tables and what is read off them."""

    interactions: Any
    monotone: Any
    weights: str
    max_time: float | None
    verbose: int
    _known: tuple[str, ...]
    """Known parts of the linear predictor that :meth:`fit` takes."""
    _prepare: Callable[..., tuple[list[Problem], list[str], Any]]
    """Problems to fit, names of outputs, and the unit of the targets; subclasses say how."""
    fit: Callable[..., Self]

    # ------------------------------------------------------------------ entry
    def _training_rows(self, table: Table, weight: np.ndarray, *, reset: bool) -> np.ndarray:
        """Rows of positive weight as a matrix; ``reset`` decides anew what each column is."""
        if reset:
            self.columns_ = table.learn(weight, most=MAX_LEVELS)
        return table.rows(self.columns_)[weight > 0]

    def _new_rows(self, X: Any) -> np.ndarray:
        if "tables_" not in vars(self):  # a short cut, as this takes longer than to predict a row
            check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        rows = read_plain(X, self.columns_, None if names is None else names.tolist())
        if rows is None:
            return enter_table(self, X, reset=False).rows(self.columns_)
        if names is not None and type(X) is np.ndarray:
            warn_caller(
                f"X does not have valid feature names, but {type(self).__name__} was fitted with feature "
                f"names",
            )
        return rows

    def _predictor(self, X: Any) -> np.ndarray:
        rows = self._new_rows(X)
        return self.tables_.predictor(rows)

    # ------------------------------------------------------------------ terms
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

    def _n_candidates(self) -> int:
        """Number of terms that might have entered: all features, and the pairs that were allowed."""
        pairs, most = self._pairs()
        p = len(self.columns_)
        free = p - len(self.monotone or ())
        return p + (0 if most == 0 else free * (free - 1) // 2 if pairs is None else len(pairs))

    def _pair(self, pair: Any) -> Term:
        if isinstance(pair, str):
            names = [column.name for column in self.columns_]
            pair = pair_named(pair, names) or pair
        if isinstance(pair, str) or np.ndim(pair) != 1 or len(pair) != 2:
            raise ValueError(
                f"interactions holds {pair!r}; each entry must be a pair of features, such as ('a', 'b') or "
                f"'a × b'."
            )
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

    def _term(self, key: Any) -> Term:
        """A term of this model by its name or by its features."""
        if isinstance(key, str) and key in self.term_names_:
            return self.terms_[self.term_names_.index(key)]
        if isinstance(key, str):
            parts: Sequence[Any] = pair_named(key, [column.name for column in self.columns_]) or (key,)
        else:
            parts = [key] if np.ndim(key) == 0 else list(key)
        try:
            term = tuple(sorted(self._feature(part) for part in parts))
        except ValueError:
            term = ()
        if term not in self.terms_:
            raise ValueError(f"The model has no term {key!r}; its terms are {self.term_names_[:20]}.")
        return term

    # -------------------------------------------------------------------- fit
    def _from_source(self, source: Source, reading: Reading) -> Prepared | None:
        """Fit to rows that come in blocks; ``None`` if they were so few that they were fitted as a table."""
        rows = source.first_rows(most_at_hand(source.n_features))
        if rows is not None:
            self.fit(rows.X, **{"y": None, **rows.given})
            return None
        if not adds_up(reading.loss):
            raise ValueError(
                f"The {reading.loss.name} loss as it is set needs all rows at once, and of rows that come in "
                f"blocks there may be {most_at_hand(source.n_features)} then: pass a sample of them, or a "
                f"table in memory. Squared, logistic, poisson and gamma take any number."
            )
        ready = prepare(self, source, reading)
        self._fit_problems(ready.problems, ready.outputs, ready.unit, ready.axes)
        return ready

    def _fit_problems(
        self,
        problems: Sequence[Rows],
        outputs: Sequence[str],
        unit: Any = 1.0,
        axes: Axes | None = None,
    ) -> None:
        """Fit one problem per output on the same rows, and read the result in units of the targets."""
        X, weight = problems[0].at_hand.X, problems[0].at_hand.weight
        shapes = wished_shapes(self.monotone, self.columns_, self._feature)
        if shapes.features and one_per_class(problems):
            raise ValueError(
                "monotone is for numbers and for two classes: of several classes not all can become "
                "more probable."
            )
        pairs, most = self._pairs()
        for pair in pairs or ():
            for j in set(pair) & set(shapes.bends):
                raise ValueError(
                    f"interactions names a pair of {self.columns_[j].name!r}, whose effect must be convex or "
                    f"concave; such a feature takes part in no pair."
                )
        axes = build_axes(X, weight, self.columns_, bent=shapes.bends) if axes is None else axes
        apart = shapes.features if pairs is None else sorted(shapes.bends)
        centred, centre = departs(getattr(self, "loss", None), shapes), None
        pace = Pace(len(problems) + centred, self.max_time, self.verbose)
        few = too_few_rows(problems[0].total, self._n_candidates())
        with limited_threads(X):
            if centred:
                common = central(problems[0].at_hand)
                found = fit_additive(common, axes, pairs, most, apart, hold_out=few, pace=pace)
                centre = Centre.of(common, found)
                problems, few = [centre.beneath(p.at_hand) for p in problems], False  # folds are the centre's
            free = [fit_additive(p, axes, pairs, most, apart, hold_out=few, pace=pace) for p in problems]
            free = [widened(p, state, shapes.bends) for p, state in zip(problems, free, strict=True)]
            frozen = Frozen.nothing(len(X), len(problems))
            fits = Fits(problems, free, axes, outputs, shapes, frozen, centre=centre).finished()
        pace.close()
        if pace.left_out:
            warn_caller(
                f"The fit took its max_time of {self.max_time:g} s: left out were "
                f"{', '.join(pace.left_out)}.",
                ConvergenceWarning,
            )
        if not all(state.converged for state in fits.every_state):
            warn_caller(
                "The fit was stopped before it reached the minimum of its loss: predictions far from the "
                "mean are not to be trusted. Look for targets or offsets of extreme size.",
                ConvergenceWarning,
            )
        self.edits_ = []
        self._store(fits, unit)

    # ------------------------------------------------------------------- edit
    @tells_unseen
    @takes_roles
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
        for name in known.keys() - set(self._known):
            raise TypeError(
                f"edit() got an unexpected keyword argument {name!r}: it takes drop, freeze, smooth, cap, "
                f"sample_weight and {' and '.join(self._known)}."
            )
        wishes = Wishes.read(self._term, drop, freeze, smooth, cap)
        return edited(self, wishes, X, y, sample_weight, known)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags
