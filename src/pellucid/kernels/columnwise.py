r"""A kernel as a sum of products of kernels of single columns, where it is one.

The Gaussian kernel of ten columns is the product of ten one-column kernels, the linear kernel their sum, and
the kernel of all pairs their second elementary symmetric polynomial. So with :math:`z_c` the values of
one-column kernels, each summand is :math:`w\, e_r(z_1, \dots, z_p)`: the product of all for :math:`r = p`,
the sum for :math:`r = 1`, the sum over pairs for :math:`r = 2`. What is multilinear in the columns, such as
expectations over independent columns, is then computed column by column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from pellucid.kernels.additive import AdditivePairs
from pellucid.kernels.algebra import Power, Product, Sum
from pellucid.kernels.base import Kernel
from pellucid.kernels.discrete import Categorical, Constant
from pellucid.kernels.dot import Linear
from pellucid.kernels.product import Laplacian, Periodic
from pellucid.kernels.restrict import Restricted
from pellucid.kernels.stationary import RBF, Matern

_MOST = 2000  # summands that are multiplied out
_PRODUCTS = (RBF, Laplacian, Periodic, Categorical)


@dataclass(frozen=True)
class ColumnTerm:
    """One summand: ``factor`` times the ``order``-th elementary symmetric polynomial of its columns.

    Attributes
    ----------
    factor : float
        The number in front.
    columns : dict from column number to a tuple of kernels
        Kernels of each column, which are multiplied.
    order : int
        How many columns each product has: all of them, one or two.
    """

    factor: float
    columns: Mapping[int, tuple[Kernel, ...]]
    order: int

    def values(self, column: int, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        """The values ``z`` of a column between two sets of rows."""
        K = np.ones((len(X), len(Y)))
        for kernel in self.columns[column]:
            K *= kernel._gram(_column(kernel, X, column), _column(kernel, Y, column))
        return K

    @property
    def whole(self) -> bool:
        """Whether it is the product of all its columns."""
        return self.order == len(self.columns)

    def multiplied_out(self) -> list[ColumnTerm]:
        """The same as a sum of products of all their columns."""
        if self.whole:
            return [self]
        return [
            ColumnTerm(self.factor, {c: self.columns[c] for c in some}, self.order)
            for some in combinations(self.columns, self.order)
        ]


def column_terms(kernel: Kernel, n_columns: int) -> list[ColumnTerm]:
    """Write a kernel as a sum of :class:`ColumnTerm`, or raise a ``ValueError`` that says why it is none.

    Examples
    --------
    >>> from pellucid.kernels import RBF, Linear
    >>> [(t.order, sorted(t.columns)) for t in column_terms(RBF().on([0, 2]) + Linear(), 3)]
    [(2, [0, 2]), (1, [0, 1, 2])]
    """
    return _merged(_terms(kernel, range(n_columns)))


def _terms(kernel: Kernel, columns: Sequence[int]) -> list[ColumnTerm]:
    """Summands of a kernel that sees the given columns of the table."""
    if isinstance(kernel, Constant):
        return [ColumnTerm(kernel.value, {}, 0)]
    if isinstance(kernel, Sum):
        return [term for part in kernel.children for term in _terms(part, columns)]
    if isinstance(kernel, Product):
        return _multiplied([_terms(part, columns) for part in kernel.children], kernel)
    if isinstance(kernel, Power):
        return _multiplied([_terms(kernel.base, columns)] * kernel.exponent, kernel)
    if isinstance(kernel, Restricted):
        places = range(len(columns)) if kernel._positions is None else kernel._positions
        return _terms(kernel.base, [columns[place] for place in places])
    if len(columns) == 1:
        return [ColumnTerm(1.0, {columns[0]: (kernel,)}, 1)]
    if isinstance(kernel, _PRODUCTS):
        return [ColumnTerm(1.0, _split(kernel, columns), len(columns))]
    if isinstance(kernel, Linear):
        return [ColumnTerm(1.0, _split(kernel, columns), 1)]
    if isinstance(kernel, AdditivePairs):
        one = RBF if kernel.base == "rbf" else Matern
        scales = np.broadcast_to(kernel.length_scale, len(columns))
        own = {c: (one(float(scale)),) for c, scale in zip(columns, scales, strict=True)}
        return [ColumnTerm(2.0 / (len(columns) * (len(columns) - 1)), own, 2)]
    raise ValueError(
        f"The kernel {kernel} compares {len(columns)} columns at once and is no sum of products of kernels "
        f"of single columns, so this cannot be computed exactly. Kernels that are: RBF, Laplacian, Periodic, "
        f"Categorical, Linear, AdditivePairs, any kernel of one column such as Matern().on([0]), and their "
        f"sums and products."
    )


def _split(kernel: Kernel, columns: Sequence[int]) -> dict[int, tuple[Kernel, ...]]:
    """One kernel per column, each with the parameters of its column."""
    own: dict[int, tuple[Kernel, ...]] = {}
    for i, column in enumerate(columns):
        given: dict[str, Any] = {}
        for name, value in kernel._own_params().items():
            given[name] = float(value[i]) if np.ndim(value) else value
        own[column] = (type(kernel)(**given),)
    return own


def _multiplied(factors: Sequence[list[ColumnTerm]], kernel: Kernel) -> list[ColumnTerm]:
    """Products of sums, multiplied out; kernels of the same column are multiplied."""
    found = [ColumnTerm(1.0, {}, 0)]
    for terms in factors:
        if all(not term.columns for term in terms):  # a number leaves the form of the others as it is
            number = sum(term.factor for term in terms)
            found = [ColumnTerm(number * t.factor, t.columns, t.order) for t in found]
            continue
        if len(found) == 1 and not found[0].columns:
            found = [ColumnTerm(found[0].factor * t.factor, t.columns, t.order) for t in terms]
            continue
        left, right = ([part for t in side for part in t.multiplied_out()] for side in (found, terms))
        if len(left) * len(right) > _MOST:
            raise ValueError(
                f"The kernel {kernel} is a sum of more than {_MOST} products over columns: too many to go "
                f"through one by one."
            )
        found = [_product(a, b) for a in left for b in right]
    return found


def _product(a: ColumnTerm, b: ColumnTerm) -> ColumnTerm:
    columns = dict(a.columns)
    for c, kernels in b.columns.items():
        columns[c] = (*columns.get(c, ()), *kernels)
    return ColumnTerm(a.factor * b.factor, columns, len(columns))


def _merged(terms: list[ColumnTerm]) -> list[ColumnTerm]:
    """Summands without constants' copies: all numbers in one, if there are any."""
    number = sum(term.factor for term in terms if not term.columns)
    rest = [term for term in terms if term.columns]
    return [*rest, ColumnTerm(number, {}, 0)] if number else rest


def _column(kernel: Kernel, X: np.ndarray, column: int) -> np.ndarray:
    """The column of a table in the form in which a kernel takes it."""
    if X.ndim == 1:  # single objects
        return X
    if kernel._takes_objects():
        return X[:, column]
    x = X[:, [column]]
    numeric = kernel.vectors and not kernel.reads_levels
    return x.astype(float) if numeric and x.dtype == object else x
