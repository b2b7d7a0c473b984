"""What an additive model keeps to be fitted again: columns, ridges, frozen tables, a log of edits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from pellucid.effects.tables import TermTables
from pellucid.effects.terms import Effect, Term
from pellucid.features.term_basis import Axes, TermBasis
from pellucid.models.additive.engine.state import Problem, State
from pellucid.models.additive.refit import refit


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
class Recipe:
    """What a refit needs besides the axes: columns and ridges of the terms of each output.

    Attributes
    ----------
    terms : tuple of tuples of Term
        Terms with columns, per output.
    picks : tuple of tuples of tuples of ndarray
        Which columns of its axes each of them has.
    ridges : tuple of ndarray
        λ of each group of columns.
    jumps : tuple of bool
        Whether the effects of each output may jump at values that stand out.
    frozen : tuple of Term
        Terms that keep their tables.
    directions : dict from int to int
        Features whose main effects must rise (+1) or fall (-1).
    """

    terms: tuple[tuple[Term, ...], ...]
    picks: tuple[tuple[tuple[np.ndarray, ...], ...], ...]
    ridges: tuple[np.ndarray, ...]
    jumps: tuple[bool, ...]
    frozen: tuple[Term, ...] = ()
    directions: dict[int, int] = field(default_factory=dict)

    @classmethod
    def of(
        cls, states: Sequence[State], frozen: Iterable[Term] = (), directions: Mapping[int, int] | None = None
    ) -> Recipe:
        """The recipe of a fit."""
        return cls(
            tuple(state.basis.terms for state in states),
            tuple(state.basis.picks for state in states),
            tuple(state.fit.ridge for state in states),
            tuple(state.basis.axes.main.jumps for state in states),
            tuple(frozen),
            dict(directions or {}),
        )

    def basis(self, k: int, axes: Axes, without: Iterable[Term]) -> tuple[TermBasis, np.ndarray]:
        """Columns of output ``k`` without some terms, and their ridges."""
        axes = axes if self.jumps[k] else axes.without_jumps
        every = TermBasis(axes, self.terms[k], self.picks[k])
        left = [t for t, term in enumerate(every.terms) if term not in set(without)]
        lean = TermBasis(axes, tuple(every.terms[t] for t in left), tuple(every.picks[t] for t in left))
        ridge = dict(zip(every.keys, self.ridges[k], strict=True))
        return lean, np.array([ridge[key] for key in lean.keys], dtype=float)


@dataclass(frozen=True)
class Frozen:
    """Terms that an edited model does not fit again.

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


def refit_all(
    recipe: Recipe,
    problems: Sequence[Problem],
    axes: Axes,
    gone: Sequence[Term],
    smooth: Mapping[Term, float],
) -> list[State]:
    """Fit the terms that are left, with the ridges of the recipe times the factors in ``smooth``."""
    states = []
    for k, problem in enumerate(problems):
        basis, ridge = recipe.basis(k, axes, gone)
        ridge = ridge * np.array([smooth.get(term, 1.0) for term, _ in basis.keys])
        states.append(refit(problem, basis, ridge))
    return states
