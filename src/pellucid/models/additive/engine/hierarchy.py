"""The prior of an additive model: how much each term may vary, learned from all terms of a kind together.

Column j of a term has prior variance d_j = Σ_k θ_k S_kj, a sum of shapes (see ``features.term_basis``). The
terms of a kind, main effects or pairs, are draws from one distribution: with probability 1 - π there is
nothing in a term, else the logarithm t of its standard deviation τ = (Σ θ_k)^{1/2} at a point of its axis has
density sech(t - μ) / π, which is that of a half-Cauchy τ of scale e^μ: few strong terms, many weak ones, and
nothing at all are one mechanism with other π and μ, which have vague priors and are averaged over.

One update takes a fit and looks at its terms one after another, those that vary most first; what a change of
one does to the fit is known before the next is looked at (``solvers.one_by_one``). Of each term:

1. The shapes share its variance by the fixed point of the restricted likelihood, θ_k ∝ θ_k Σ_j r_kj
   (β_j²/d_j) / Σ_j r_kj edf_j with the share r_kj = θ_k S_kj / d_j of a shape in a column.
2. The evidence for its t with these shares, all other terms given, is a curve B(t) in closed form. Then τ² is
   ρ e^{2 E t}, with the probability ρ that there is something in the term and its posterior of t.

The product over all terms of 1 - π + π ∫ B(t) p(t | μ) dt, terms that were left out with the curves that they
had, is the likelihood of π and μ, which are averaged over in the next update.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from pellucid.features.term_basis import Axes, Term, TermBasis
from pellucid.solvers.one_by_one import Look, OneByOne
from pellucid.solvers.variance_components import Components

_V = TypeVar("_V")

USUAL = 0.25  # standard deviation of a term before any is seen
TOGETHER = 0.5  # variance that all main effects have together at most before any is seen
POOL = 0.2  # degrees of freedom by which the shares of shapes are pulled towards what is usual
LEAST = 1e-3  # share of its variance that a term in which there is nothing may keep, to come back
T = np.arange(np.log(1e-4), np.log(50.0), 0.2)  # logarithms of standard deviations, in units of the targets
STAYS = {1: 0.05, 2: 0.5}  # probabilities that there is something in a term from which on it stays
_LEAST_RIDGE, _MOST_RIDGE = 1e-6, 1e15  # ridges beyond do not change the fit any more
_AT_ONCE = 256  # terms whose posteriors are computed together
_GROUPS = 200  # of terms left out, alike in their curves


@dataclass(frozen=True)
class Absent:
    """Curves of evidence of terms that have no columns, and how many terms have each."""

    curves: np.ndarray = field(default_factory=lambda: np.zeros((0, len(T))))
    count: np.ndarray = field(default_factory=lambda: np.zeros(0))

    def and_also(self, curves: np.ndarray) -> Absent:
        """These and others; of very many, those that are alike count together."""
        every = np.vstack([self.curves, curves])
        count = np.concatenate([self.count, np.ones(len(curves))])
        if len(every) <= _GROUPS:
            return Absent(every, count)
        order = np.argsort(every.max(axis=1) + 1e-3 * every.sum(axis=1), kind="stable")
        group = np.empty(len(every), dtype=np.intp)
        group[order] = np.arange(len(every)) * _GROUPS // len(every)
        total = np.bincount(group, count, _GROUPS)
        mean = np.zeros((_GROUPS, len(T)))
        np.add.at(mean, group, every * count[:, None])
        return Absent(mean / total[:, None], total)


@dataclass(frozen=True)
class Kind:
    """What terms of one kind have in common.

    Attributes
    ----------
    belief : ndarray of shape (len(_PI), len(T))
        Distribution of the probability π that there is something in a term, and of the usual logarithm μ of
        the standard deviation of a term in which there is something.
    absent : Absent
        Terms of the kind that have no columns.
    shares : dict from names of shapes to ndarray
        How the variance of a term is usually shared by its shapes.
    """

    belief: np.ndarray = field(default_factory=lambda: _vague())
    absent: Absent = field(default_factory=Absent)
    shares: Mapping[tuple[str, ...], np.ndarray] = field(default_factory=dict)

    def usual_shares(self, names: tuple[str, ...]) -> np.ndarray:
        """Shares of the shapes of a term of which nothing is known."""
        return self.shares.get(names, np.full(len(names), 1.0 / len(names)))

    def learned(self, curves: np.ndarray) -> Kind:
        """The kind with the distribution of π and μ that curves of evidence of its terms lead to."""
        every = np.vstack([curves, self.absent.curves])
        count = np.concatenate([np.ones(len(curves)), self.absent.count])
        top = np.maximum(every.max(axis=1), 0.0)
        likelihood, nothing = np.exp(every - top[:, None]), np.exp(-top)[:, None]
        there = np.maximum(likelihood @ _DENSITY.T, 1e-300)  # of a term, for each μ
        value = np.array([count @ np.log(pi * there + (1.0 - pi) * nothing) for pi in _PI]) + _log_prior()
        p = np.exp(value - value.max())
        p /= p.sum()
        return replace(self, belief=p)

    def posteriors(self, curves: np.ndarray) -> list[Posterior]:
        """What is known of terms, from their curves of evidence and the distribution of π and μ."""
        found: list[Posterior] = []
        pi = _PI[:, None]
        for start in range(0, len(curves), _AT_ONCE):
            some = curves[start : start + _AT_ONCE]
            top = np.maximum(some.max(axis=1, keepdims=True), 0.0)
            likelihood = np.maximum(np.exp(some - top), 1e-300)
            there = likelihood @ _DENSITY.T
            share = self.belief * pi / (pi * there[:, None, :] + (1.0 - pi) * np.exp(-top)[:, None, :])
            weight = likelihood * (share.sum(axis=1) @ _DENSITY)
            rho = (share.sum(axis=1) * there).sum(axis=1)
            found += [
                Posterior(float(r), w / w.sum()) for r, w in zip(np.minimum(rho, 1.0), weight, strict=True)
            ]
        return found


_PI = 1.0 / (1.0 + np.exp(-np.linspace(-8.0, 6.0, 29)))
_DENSITY = 1.0 / np.cosh(T - T[:, None])
_DENSITY /= _DENSITY.sum(axis=1, keepdims=True)


def _log_prior() -> np.ndarray:
    """Of π, uniform on the grid of its logits, and μ."""
    return np.asarray(np.log(_PI * (1.0 - _PI))[:, None] - 0.5 * (T - np.log(USUAL)) ** 2)


def _vague() -> np.ndarray:
    """Distribution of π and μ before any term is seen."""
    p = np.exp(_log_prior())
    return np.asarray(p / p.sum())


@dataclass(frozen=True)
class Posterior:
    """What is known of the standard deviation of a term.

    Attributes
    ----------
    inclusion : float
        ρ, probability that there is something in the term.
    weight : ndarray of shape (len(T),)
        Probabilities of t, if there is.
    """

    inclusion: float
    weight: np.ndarray

    @property
    def variance(self) -> float:
        """Variance that takes the place of the distribution: ρ e^{2 E t}."""
        return max(self.inclusion, LEAST) * float(np.exp(2.0 * (self.weight @ T)))

    @property
    def expected(self) -> float:
        """Expected variance, if there is something in the term: E e^{2t}."""
        return float(self.weight @ np.exp(2.0 * T))


@dataclass(frozen=True)
class Prior:
    """Variances of all shapes of all terms, and where they come from.

    Attributes
    ----------
    variances : dict from Term to ndarray
        θ of each shape.
    kinds : dict from int to Kind
        Main effects (1) and pairs (2).
    posteriors : dict from Term to Posterior
        After an update.
    curves : dict from Term to ndarray
        Evidence of each term at the last update.
    """

    variances: dict[Term, np.ndarray] = field(default_factory=dict)
    kinds: dict[int, Kind] = field(default_factory=lambda: {1: Kind(), 2: Kind()})
    posteriors: dict[Term, Posterior] = field(default_factory=dict)
    curves: dict[Term, np.ndarray] = field(default_factory=dict)

    def with_terms(self, axes: Axes, terms: Collection[Term]) -> Prior:
        """The same with terms of which nothing is known yet."""
        new = [term for term in terms if term not in self.variances]
        each = min(USUAL**2, TOGETHER / max(len(new), 1))
        at_first = {t: each * self.kinds[len(t)].usual_shares(axes.shapes(t)[0]) for t in new}
        return replace(self, variances={**self.variances, **at_first})

    def with_screened(self, axes: Axes, pairs: Sequence[Term], curves: np.ndarray, most: int) -> Prior:
        """The same with the pairs that may vary most by curves of evidence; the others count as absent.

        They begin with next to no variance: what each of them would explain alone, many would explain alike.
        """
        kind = self.kinds[2].learned(curves)
        variance = np.array([post.variance for post in kind.posteriors(curves)])
        order = np.argsort(-variance, kind="stable")
        tried, rest = np.sort(order[:most]), order[most:]
        new = {pairs[i]: LEAST * variance[i] * kind.usual_shares(axes.shapes(pairs[i])[0]) for i in tried}
        kind = replace(kind, absent=kind.absent.and_also(curves[rest]))
        return replace(self, variances={**self.variances, **new}, kinds={**self.kinds, 2: kind})

    def only(self, terms: Collection[Term]) -> Prior:
        """The same without other terms; those that go count as absent from now on."""
        gone = {k: [c for t, c in self.curves.items() if len(t) == k and t not in terms] for k in self.kinds}
        kinds = {
            k: replace(kind, absent=kind.absent.and_also(np.array(gone[k]))) if gone[k] else kind
            for k, kind in self.kinds.items()
        }

        def left(of: Mapping[Term, _V]) -> dict[Term, _V]:
            return {t: v for t, v in of.items() if t in terms}

        return Prior(left(self.variances), kinds, left(self.posteriors), left(self.curves))

    def kept(self) -> list[Term]:
        """Terms in which something is probable enough."""
        return [
            t
            for t in self.variances
            if t not in self.posteriors or self.posteriors[t].inclusion >= STAYS[len(t)]
        ]

    @property
    def if_there(self) -> dict[Term, np.ndarray]:
        """Variances of the shapes of each term, if there is something in it."""
        return {
            t: v / max(self.posteriors[t].inclusion, LEAST) if t in self.posteriors else v
            for t, v in self.variances.items()
        }

    @property
    def expected(self) -> dict[Term, np.ndarray]:
        """Variances of the shapes of each term, as expected if there is something in it."""
        return {
            t: v / v.sum() * self.posteriors[t].expected if t in self.posteriors else v
            for t, v in self.variances.items()
        }

    def updated(self, basis: TermBasis, fit: Components) -> Prior:
        """The prior after one look at each term of a fit of it, those that vary most first."""
        kinds, variances = dict(self.kinds), dict(self.variances)
        posteriors, curves = dict(self.posteriors), dict(self.curves)
        if not basis.terms:
            return self
        now = OneByOne(fit)
        for size in (1, 2):
            places = [t for t, term in enumerate(basis.terms) if len(term) == size]
            if not places:
                continue
            before, kind = {t: float(variances[basis.terms[t]].sum()) for t in places}, kinds[size]
            for t in sorted(places, key=lambda t: (-before[t], t)):
                term, look = basis.terms[t], now.look(basis.slices[t])
                shares = self._shares(basis, t, look)
                curves[term] = look.log_bayes_factor(shares @ basis.shapes[t], np.exp(2.0 * T))
                (post,) = kind.posteriors(curves[term][None])
                variances[term] = post.variance * shares
                now.change(basis.slices[t], look, ridges(variances[term] @ basis.shapes[t], fit.scale))
            terms = [basis.terms[t] for t in places]
            kind = kind.learned(np.array([curves[term] for term in terms]))
            found = kind.posteriors(np.array([curves[term] for term in terms]))
            posteriors |= dict(zip(terms, found, strict=True))
            kinds[size] = replace(kind, shares=_usual_shares(basis, places, variances, found))
        return Prior(variances, kinds, posteriors, curves)

    def _shares(self, basis: TermBasis, t: int, look: Look) -> np.ndarray:
        """New shares of the shapes of a term."""
        term, S = basis.terms[t], basis.shapes[t]
        theta = self.variances[term]
        if len(theta) == 1:
            return np.ones(1)
        d = np.maximum(theta @ S, 1e-300)
        share = theta[:, None] * S / d
        signal = share @ (look.beta**2 / d)
        edf = share @ look.edf
        usual = self.kinds[len(term)].usual_shares(basis.axes.shapes(term)[0])
        new = (theta / theta.sum() * signal + POOL * usual) / (edf + POOL)
        return np.asarray(new / new.sum())


def ridges(d: np.ndarray, scale: float) -> np.ndarray:
    """λ_j = σ² / d_j of columns with prior variances d_j."""
    with np.errstate(divide="ignore", over="ignore"):
        return np.clip(scale / d, _LEAST_RIDGE, _MOST_RIDGE)


def _usual_shares(
    basis: TermBasis, places: Sequence[int], variances: Mapping[Term, np.ndarray], found: Sequence[Posterior]
) -> dict[tuple[str, ...], np.ndarray]:
    """Mean shares over terms of the same shapes, by the probability that there is something in them."""
    total: dict[tuple[str, ...], np.ndarray] = {}
    for t, post in zip(places, found, strict=True):
        term = basis.terms[t]
        names = basis.axes.shapes(term)[0]
        share = variances[term] / variances[term].sum()
        total[names] = total.get(names, np.full(len(names), 1.0 / len(names))) + post.inclusion * share
    return {names: sums / sums.sum() for names, sums in total.items()}
