"""Fits of an additive model, and what it keeps to be fitted again: columns, ridges, frozen tables, edits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pellucid.effects.tables import TermTables
from pellucid.effects.terms import Effect, Term
from pellucid.features.axis import Basis
from pellucid.features.term_basis import Axes, TermBasis
from pellucid.linalg.moments import Moments
from pellucid.losses import Loss
from pellucid.models.additive.centre import Centre
from pellucid.models.additive.engine.all_rows import Rows
from pellucid.models.additive.engine.loss_numbers import with_loss_of
from pellucid.models.additive.engine.state import Problem, State
from pellucid.models.additive.engine.structure import with_bases
from pellucid.models.additive.monotone_pairs import broken, cone_rows
from pellucid.models.additive.monotonicity import Shapes
from pellucid.models.additive.refit import at_level, into_cone, refit

_LOOKS = 5  # at what constraints a fit of a loss that is not quadratic still breaks


@dataclass(frozen=True)
class Edit:
    """One entry of the log of edits.

    Attributes
    ----------
    action : {"drop", "freeze", "cap", "smooth"}
        What was done.
    term : str
        To which term.
    detail : str
        The limits or the factor.
    before, after : float
        Share of deviance explained on the rows of the edit, before it and after the refit; the same for
        all edits that were made together.

    Examples
    --------
    >>> print(Edit("cap", "age", "between -1 and 2", 0.81, 0.8))
    cap age between -1 and 2: deviance explained 81.0 % -> 80.0 %
    """

    action: str
    term: str
    detail: str
    before: float
    after: float

    def __str__(self) -> str:
        what = " ".join(part for part in (self.action, self.term, self.detail) if part)
        return f"{what}: deviance explained {100 * self.before:.1f} % -> {100 * self.after:.1f} %"


@dataclass(frozen=True)
class RefitSpec:
    """What a refit needs besides the axes: columns and ridges of the terms of each output.

    Attributes
    ----------
    terms : tuple of tuples of Term
        Terms with columns, per output.
    picks : tuple of tuples of tuples of ndarray
        Which columns of its axes each of them has.
    ridges : tuple of ndarray
        λ of each column.
    frozen : tuple of Term
        Terms that keep their tables.
    directions : dict from int to int
        Features whose main effects must rise (+1) or fall (-1).
    bends : dict from int to int, or None
        Features whose main effects must be convex (+1) or concave (-1).
    bases : pair of dicts from int to Basis, or None
        The columns as they are, of main effects and of pairs, where sums of them are kept: computed again on
        another machine, columns of equal variance may come out rotated.
    centre : Loss, or None
        Loss of the centre of quantiles, whose terms, columns and ridges stand last.
    """

    terms: tuple[tuple[Term, ...], ...]
    picks: tuple[tuple[tuple[np.ndarray, ...], ...], ...]
    ridges: tuple[np.ndarray, ...]
    frozen: tuple[Term, ...] = ()
    directions: dict[int, int] = field(default_factory=dict)
    bases: tuple[dict[int, Basis], dict[int, Basis]] | None = None
    bends: dict[int, int] | None = None
    centre: Loss | None = None

    @property
    def shapes(self) -> Shapes:
        """Wished shapes of main effects."""
        return Shapes(self.directions, self.bends or {})

    @classmethod
    def of(cls, fits: Fits, *, with_bases: bool = False) -> RefitSpec:
        """What a refit of these fits needs."""
        states = [*fits.states, *([] if fits.centre is None else [fits.centre.state])]
        return cls(
            tuple(state.basis.terms for state in states),
            tuple(state.basis.picks for state in states),
            tuple(state.fit.ridge for state in states),
            tuple(fits.frozen.tables),
            dict(fits.shapes.moves),
            states[0].basis.used() if with_bases else None,
            dict(fits.shapes.bends),
            None if fits.centre is None else fits.centre.problem.loss,
        )

    def axes(self, tables: TermTables) -> Axes:
        """Axes and bases of the model that has these tables."""
        axes = with_bases(tables.fine, tables.coarse)
        if self.bases is not None:
            axes.main.given(self.bases[0])
            axes.pair.given(self.bases[1])
        return axes

    def basis(self, k: int, axes: Axes, without: Iterable[Term]) -> tuple[TermBasis, np.ndarray]:
        """Columns of output ``k``, or of the centre (-1), without some terms, and their ridges."""
        gone = set(without)
        every = TermBasis(axes, self.terms[k], self.picks[k])
        if len(self.ridges[k]) != every.size:
            raise ValueError(
                "The model was fitted by an earlier version of pellucid: fit it again to edit it."
            )
        left = every.of_terms([t for t, term in enumerate(every.terms) if term not in gone])
        return left, self.ridges[k][every.columns_of(left.terms)]

    def refit(
        self,
        problems: Sequence[Problem],
        axes: Axes,
        gone: Sequence[Term],
        smooth: Mapping[Term, float],
        known: Moments | None = None,
    ) -> tuple[Sequence[Problem], list[State], Centre | None]:
        """Fit the terms that are left, with these ridges times the factors in ``smooth``.

        Moments of the only output may be ``known``. Where there is a centre, problems become those of
        departures from it.
        """

        def fitted(k: int, problem: Problem) -> State:
            basis, ridge = self.basis(k, axes, gone)
            factor = np.array([smooth.get(term, 1.0) for term in basis.terms])[basis.owner]
            return refit(problem, basis, ridge * factor, known)

        centre = None
        if self.centre is not None:
            common = replace(problems[0], loss=self.centre)
            centre = Centre.of(common, fitted(-1, common))
            problems = [centre.beneath(p) for p in problems]
        return problems, [fitted(k, problem) for k, problem in enumerate(problems)], centre


@dataclass(frozen=True)
class Frozen:
    """Terms that an edited model does not fit again; none after a fit.

    Attributes
    ----------
    tables : dict from Term to ndarray
        Their tables, in the units of the targets.
    effects : dict of Effect
        The effects that have their standard errors.
    parts : ndarray of shape (n, n_frozen, n_outputs)
        Their contributions to the rows.
    """

    tables: dict[Term, np.ndarray]
    effects: dict[str, Effect]
    parts: np.ndarray

    _in_model_files = False

    @classmethod
    def nothing(cls, n_rows: int, n_outputs: int) -> Frozen:
        """No term at all."""
        return cls({}, {}, np.empty((n_rows, 0, n_outputs)))

    @classmethod
    def of(
        cls,
        tables: TermTables,
        effects: dict[str, Effect],
        terms: Sequence[Term],
        cap: Mapping[Term, tuple[float, float]],
        X: np.ndarray,
    ) -> Frozen:
        """Tables of some terms, cut where that is wished, at rows."""
        kept: dict[Term, np.ndarray] = {}
        for term in terms:
            table = tables.tables[tables.terms.index(term)]
            if term in cap:
                cut = np.clip(table, *cap[term])
                for axis in range(len(term)):  # what is nowhere contributes nothing all the same
                    np.moveaxis(cut, axis, 0)[-1] = 0.0
                table = cut
            kept[term] = table
        lean = TermTables(
            tables.columns, tables.fine, tables.coarse, tuple(kept), tuple(kept.values()), tables.intercept
        )
        parts = lean.contributions(X)
        return cls(kept, effects, parts if parts.ndim == 3 else parts[:, :, None])

    def kinds(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Sum over main effects and sum over pairs, for output ``k``."""
        main = np.array([len(term) == 1 for term in self.tables], dtype=bool)
        return self.parts[:, main, k].sum(axis=1), self.parts[:, ~main, k].sum(axis=1)

    def variances(self, k: int, w: np.ndarray) -> dict[Term, float]:
        """Weighted variance of each term's contributions to output ``k``."""
        P = self.parts[:, :, k]
        centred = P - (w @ P) / w.sum()
        return dict(zip(self.tables, (w @ centred**2 / w.sum()).tolist(), strict=True))


@dataclass(frozen=True)
class Fits:
    """One fit per output, all on the same rows.

    Attributes
    ----------
    problems : sequence of Problem or AllRows
        What was fitted; contributions of frozen terms are part of the offsets.
    free : sequence of State
        The fits without the constraints of monotone features: tests and bands are theirs.
    axes : Axes
        Axes of all features.
    outputs : sequence of str
        Names of the outputs.
    shapes : Shapes
        Features whose main effects have a wished shape.
    frozen : Frozen
        Terms that were not fitted.
    states : sequence of State
        The fits.
    of_all : float, optional
        Sum of the weights of all rows, if the problems have some of them.
    centre : Centre, optional
        What the fits depart from: it stands in the offsets, each row's value without the row.
    """

    problems: Sequence[Any]
    free: Sequence[State]
    axes: Axes
    outputs: Sequence[str]
    shapes: Shapes
    frozen: Frozen
    states: Sequence[State] = ()
    of_all: float | None = None
    centre: Centre | None = None

    @property
    def every_state(self) -> list[State]:
        """Free fits of all outputs, and that of the centre."""
        return [*self.free, *([] if self.centre is None else [self.centre.state])]

    @property
    def terms(self) -> set[Term]:
        """Terms of all outputs, frozen ones included."""
        states = [*self.states, *([] if self.centre is None else [self.centre.state])]
        return {*self.frozen.tables, *(term for state in states for term in state.basis.terms)}

    def summands(self, states: Sequence[State]) -> list[list[State]]:
        """The states whose functions add up to each output."""
        return [[state] if self.centre is None else [self.centre.state, state] for state in states]

    @property
    def fitted(self) -> list[np.ndarray]:
        """Predictor of the rows by the fits to all of them."""
        if self.centre is None:
            return [state.eta for state in self.states]
        rest = self.centre.values - self.centre.left_out
        return [state.eta + rest for state in self.states]

    def finished(self) -> Fits:
        """The fits with main effects of the shapes wished, and with what their losses then need.

        That are inner parameters beside the predictor, and for quantiles a constant.
        """
        known = [*map(with_loss_of, self.problems, self.free)]
        held = [self._held(problem, state) for problem, state in zip(known, self.free, strict=True)]
        problems = [p.beside(state.eta) for p, state in zip(known, held, strict=True)]
        folds = None if self.centre is None else self.centre.state.fold_eta
        states = [at_level(p, state, folds) for p, state in zip(problems, held, strict=True)]
        return replace(self, problems=problems, states=states)

    @property
    def total(self) -> float:
        """Sum of the weights of all rows."""
        return float(self.problems[0].total if self.of_all is None else self.of_all)

    def at_hand(self) -> Fits:
        """The fits with rows in memory that stand for all."""
        problems = [problem.at_hand for problem in self.problems]
        if all(some is problem for some, problem in zip(problems, self.problems, strict=True)):
            return self
        states, free = (
            [replace(s, eta=p.here(s.eta)) for p, s in zip(self.problems, group, strict=True)]
            for group in (self.states, self.free)
        )
        return replace(self, problems=problems, states=states, free=free, of_all=self.total)

    def _held(self, problem: Rows, state: State) -> State:
        """A fit whose effects have the shapes wished."""
        A = cone_rows(state, self.shapes)
        held = into_cone(problem, state, A)
        for _ in range(0 if problem.quadratic else _LOOKS):
            new = broken(held.basis, held.fit.beta, self.shapes.moves)
            if not len(new):
                break
            A = np.vstack([A, new])
            held = into_cone(problem, state, A)
        return held

    def in_units(self, unit: float | np.ndarray) -> Fits:
        """The same fits of targets that were multiplied, each by its own unit or all by one.

        Frozen terms are in units of the targets already.
        """
        if np.all(np.asarray(unit) == 1.0):
            return self
        units = np.broadcast_to(unit, len(self.free)).tolist()
        states, free = (
            [state.in_units(u) for state, u in zip(group, units, strict=True)]
            for group in (self.states, self.free)
        )
        problems = [p.in_units(u) for p, u in zip(self.problems, units, strict=False)]
        centre = None if self.centre is None else self.centre.in_units(units[0])
        return replace(self, problems=problems, states=states, free=free, centre=centre)

    @property
    def given(self) -> list[Problem]:
        """The problems with the offsets that users gave."""
        frozen, centre = self.frozen, self.centre
        problems = self.problems if centre is None else [*map(centre.taken_from, self.problems)]
        return [replace(p, offset=p.offset - sum(frozen.kinds(k))) for k, p in enumerate(problems)]
