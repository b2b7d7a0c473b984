"""New rows without a fit from scratch: refits of the same structure, and sums to which rows are added.

With columns and ridges held fixed a fit with squared loss is determined by sums over rows. A model that keeps
them takes more rows in (:meth:`Updating.update`), and models of different rows are joined
(:func:`pellucid.merge`); the answer is that of a refit to all rows. Other losses have no such sums: their
quadratic moves with the fit, so they need all rows again, which is what :meth:`Refitting.refit` is for.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from copy import copy, deepcopy
from dataclasses import fields
from functools import partial, reduce
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.data.roles import takes_roles
from pellucid.data.table import UNKNOWN
from pellucid.data.weights import check_weight
from pellucid.exceptions import WeightWarning
from pellucid.features.term_basis import TermBasis
from pellucid.linalg import limited_threads
from pellucid.models.additive.edit import Wishes, refitted
from pellucid.models.additive.engine.all_rows import AllRows, Rows
from pellucid.models.additive.engine.state import Problem
from pellucid.models.additive.monotone_pairs import cone_rows
from pellucid.models.additive.refit import moments_into_cone, refit_to_moments
from pellucid.models.additive.refit_spec import Fits, Frozen
from pellucid.models.additive.results import AdditiveResults
from pellucid.models.additive.row_sums import RowSums

_NOTHING = Wishes((), (), {}, {})


class Refitting(AdditiveResults):
    """Additive models that can be fitted to other rows with the structure that they have."""

    sums_: RowSums
    weights: str
    loss: Any
    _known: tuple[str, ...]
    _prepare: Callable[..., tuple[list[Problem], list[str], Any]]

    @takes_roles
    def refit(
        self, X: Any, y: Any, sample_weight: Any = None, *, unseen: str = "error", **known: Any
    ) -> Self:
        """A new model of the same structure, fitted to other rows.

        Axes, terms, columns and ridges stay; coefficients, intercept and scale are those of the new rows
        alone. This model stays as it is.

        Parameters
        ----------
        X, y, sample_weight : as in :meth:`fit`
            The rows.
        unseen : {"error", "average"}, default="error"
            What to do with levels, or missing values, for which the model has no place: refuse them, or let
            such a row count as average in that feature, as in a prediction.
        **known
            ``offset`` and ``exposure`` as in :meth:`fit`.

        Returns
        -------
        The new model.
        """
        check_is_fitted(self)
        for name in known.keys() - set(self._known):
            raise TypeError(f"refit() got an unexpected keyword argument {name!r}.")
        self._check_seen(X, unseen)
        return refitted(self, _NOTHING, X, y, sample_weight, known)[0]

    def _check_seen(self, X: Any, unseen: str) -> None:
        """Raise for values that have no place on an axis that is in use."""
        if unseen not in ("error", "average"):
            raise ValueError(f"unseen must be 'error' or 'average', got {unseen!r}.")
        if unseen == "average":
            return
        rows = self._new_rows(X)
        for j in sorted({j for term in self.terms_ for j in term}):
            axis, name, x = self.tables_.fine[j], self.columns_[j].name, rows[:, j]
            unknown = int(np.sum(x == UNKNOWN)) if axis.levels else 0
            missing = 0 if axis.missing else int(np.isnan(x).sum())
            for count, what in ((unknown, "a level"), (missing, "a missing value")):
                if count:
                    raise ValueError(
                        f"{what.capitalize()} of {name!r} that the model has no place for, in {count} of "
                        f"{len(x)} rows: fit anew, on rows that have it, or pass unseen='average', and such "
                        f"rows count as average in {name!r}."
                    )

    def _sums_of(self, problem: Rows, basis: TermBasis, unit: float, sample_weight: Any) -> RowSums | None:
        """Sums of the rows of a problem, if they are to be kept."""
        if not self.updatable:
            return None
        if isinstance(problem, AllRows):
            work = partial(RowSums.of_some, basis, unit, problem.given_total / problem.total)
            return problem.blocks.total(work, RowSums.plus, "sums to keep")
        total = float(len(problem))
        if sample_weight is not None:
            n = len(problem) if isinstance(sample_weight, Real) else len(sample_weight)
            total = float(check_weight(sample_weight, n).sum())
        return RowSums.of(problem, basis, unit, total)

    def _keep(self, sums: RowSums | None) -> None:
        """Store sums, or forget those there were."""
        self.__dict__.pop("sums_", None)
        if sums is not None and not self._refit_spec.frozen:
            self.sums_ = sums


class Updating(Refitting):
    """Additive models with squared loss, which sums over rows determine."""

    @takes_roles
    def update(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        offset: Any = None,
        unseen: str = "error",
    ) -> Self:
        """Add rows to those of the fit; the model becomes that of a refit to all of them.

        Axes, terms, columns and ridges stay as they are: rows that change the picture, such as features that
        begin to matter or values beyond those of training, are a reason to fit again. Needs
        ``updatable=True`` and squared loss, and takes one pass over the new rows. What only rows can tell is
        not there afterwards: ``loo_``, intervals from it, and what higher orders would add to ``receipt_``.

        Parameters
        ----------
        X, y, sample_weight, offset : as in :meth:`fit`
            The new rows.
        unseen : {"error", "average"}, default="error"
            As in :meth:`refit`.

        Returns
        -------
        Itself.
        """
        check_is_fitted(self)
        sums = self._require_sums("update")
        self._check_seen(X, unseen)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", WeightWarning)  # what weights mean is read off all rows together
            problems, _, unit = self._prepare(X, y, sample_weight, reset=False, offset=offset)
        more = self._sums_of_fit(problems[0], unit, sample_weight)
        assert more is not None
        self._solve(sums.plus(more))
        return self

    def _check_updatable(self, n_outputs: int) -> None:
        if self.updatable and n_outputs > 1:
            raise ValueError(f"updatable=True is for one target, got {n_outputs}: fit one model for each.")
        if self.updatable and self.loss_.name != "squared":
            raise ValueError(
                f"updatable=True is for the squared loss, which sums over rows determine; with the "
                f"{self.loss_.name} loss add rows by refit(X, y) with all of them."
            )

    def _sums_of_fit(self, problem: Rows, unit: float, sample_weight: Any) -> RowSums | None:
        """Sums of the rows of a fit, if they are to be kept."""
        if not self.updatable:
            return None
        basis = self._refit_spec.basis(0, self._refit_spec.axes(self.tables_), ())[0]
        with limited_threads(problem.at_hand.X):
            return self._sums_of(problem, basis, unit, sample_weight)

    def without_sums(self) -> Self:
        """The model without the sums over its rows: smaller, and another site may refit its structure."""
        check_is_fitted(self)
        new = deepcopy(self)
        new.__dict__.pop("sums_", None)
        return new

    def _merged(self, others: Sequence[Updating]) -> Self:
        """The model of the rows of this one and of others, which have the same structure."""
        every: list[Updating] = [self, *others]
        for k, model in enumerate(every):
            model._require_sums("merge")
            reason = _difference(self, model)
            if reason:
                raise ValueError(
                    f"Model {k} of those to merge has another structure than the first: {reason}. Fit one "
                    f"model, and let the other sites call its refit(X, y) with their rows."
                )
            if any(np.array_equal(model.sums_.lower, other.sums_.lower) for other in every[:k]):
                raise ValueError(f"Model {k} has the same sums as one before it: its rows would count twice.")
        new = deepcopy(self)
        new._solve(reduce(RowSums.plus, [model.sums_ for model in every]))
        return new

    def _require_sums(self, what: str) -> RowSums:
        if self.loss_.name != "squared":
            raise ValueError(
                f"{what} is for the squared loss, which sums over rows determine. With the {self.loss_.name} "
                f"loss those sums move with the fit, so all rows are needed: call refit(X, y) with all."
            )
        if "sums_" not in vars(self):
            why = "it was fitted without updatable=True, or its sums were left out"
            if self._refit_spec.frozen:
                why = "it has frozen or capped terms"
            raise ValueError(
                f"This model keeps no sums over its rows, which {what} needs: {why}. Fit with "
                f"updatable=True, or call refit(X, y) of such a model with its rows."
            )
        return self.sums_

    def _solve(self, sums: RowSums) -> None:
        """Become the model of these sums; nothing changes should that fail."""
        new, spec, unit = copy(self), self._refit_spec, sums.unit
        axes = spec.axes(self.tables_)
        basis, ridge = spec.basis(0, axes, ())
        state = refit_to_moments(sums.moments(self.weights).in_units(1.0 / unit), basis, ridge)
        held = moments_into_cone(state, cone_rows(state, spec.shapes))
        nothing = Frozen.nothing(0, 1)
        fits = Fits([], [state], axes, [], spec.shapes, nothing, [held]).in_units(unit)
        new._store_moments(fits, sums.masses, sums.n_rows)
        new.sums_ = sums
        self.__dict__ = new.__dict__


def _difference(one: Updating, two: Updating) -> str:
    """How the structure of two models differs, empty if it does not."""
    a, b = one._refit_spec, two._refit_spec
    if [c.name for c in one.columns_] != [c.name for c in two.columns_]:
        return "other features"
    for column, other, x, y in zip(
        one.columns_, two.columns_, one.tables_.fine, two.tables_.fine, strict=True
    ):
        if column != other:
            return f"feature {column.name!r} has other levels, or is of another kind"
        if not _same(x, y):
            return f"feature {column.name!r} has other points on its axis"
    if one.get_params() != two.get_params():
        return "other parameters"
    if a.terms != b.terms:
        return "other terms"
    if not _same(a, b):
        return "other columns or ridges"
    return ""


def _same(a: Any, b: Any) -> bool:
    """Whether two structures hold the same numbers."""
    if isinstance(a, np.ndarray):
        return np.array_equal(a, b)
    if isinstance(a, tuple | list):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_same(v, b[k]) for k, v in a.items())
    if hasattr(a, "__dataclass_fields__"):
        return all(_same(getattr(a, f.name), getattr(b, f.name)) for f in fields(a))
    return bool(a == b)
