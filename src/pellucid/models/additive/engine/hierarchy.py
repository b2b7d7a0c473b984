"""The prior of an additive model: how much each term may vary, learned from all terms of a kind together.

Column j of a term has prior variance d_j = Σ_k θ_k S_kj, a sum of shapes (see ``features.term_basis``). The
terms of a kind, main effects or pairs, are draws from one distribution: with probability 1 - π there is
nothing in a term, else the logarithm t of the standard deviation τ = (Σ θ_k)^{1/2} of its contributions has
density sech(t - μ) / π, which is that of a half-Cauchy τ of scale e^μ: few strong terms, many weak ones, and
nothing at all are the same mechanism with other π and μ, and both are estimated.

One update, given a fit of all terms:

1. The evidence of each term for its variance being c times what it is, all other terms given, is a curve
   B(c) in closed form (``solvers.variance_components.Evidence``). With it, by expectation maximisation, come
   π, μ, the probability ρ that there is something in the term, and the posterior of t. Then τ² is ρ e^{2 E t}.
2. The shapes share τ² by the fixed point of the restricted likelihood, θ_k ∝ θ_k Σ_j r_kj (β_j²/d_j) /
   Σ_j r_kj edf_j with the share r_kj = θ_k S_kj / d_j of a shape in a column; one degree of freedom pulls
   towards the shares that are usual for the kind.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from pellucid.features.term_basis import Axes, Term, TermBasis
from pellucid.solvers.variance_components import Components, evidence

POOL = 1.0  # degrees of freedom by which the shares of shapes are pulled towards what is usual
USUAL, LEAST = 0.25, 1e-3  # standard deviation of a term before any is seen; least probability of a term
_FACTORS = np.logspace(-4.0, 4.0, 65)  # of the variance of a term, for which the evidence is computed
_STEP = 0.5 * float(np.log(_FACTORS[1] / _FACTORS[0]))  # in t
_ROUNDS = 5  # of expectation maximisation for one set of curves


@dataclass(frozen=True)
class Kind:
    """What terms of one kind have in common.

    Attributes
    ----------
    candidates : int
        Number of terms that there might be.
    inclusion : float
        π, probability that there is something in a term.
    centre : float
        μ, the usual logarithm of a term's standard deviation.
    shares : dict from names of shapes to ndarray
        How the variance of a term is usually shared by its shapes.
    """

    candidates: int
    inclusion: float = 0.5
    centre: float = float(np.log(USUAL))
    shares: Mapping[tuple[str, ...], np.ndarray] = field(default_factory=dict)

    def usual_shares(self, names: tuple[str, ...]) -> np.ndarray:
        """Shares of the shapes of a term of which nothing is known."""
        return self.shares.get(names, np.full(len(names), 1.0 / len(names)))


@dataclass(frozen=True)
class Posterior:
    """What is known of the variance of a term: ρ, and mean and standard deviation of t."""

    inclusion: float
    centre: float
    spread: float


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
    """

    variances: dict[Term, np.ndarray]
    kinds: dict[int, Kind]
    posteriors: dict[Term, Posterior] = field(default_factory=dict)

    @classmethod
    def of_kinds(cls, n_main: int, n_pairs: int) -> Prior:
        """No terms yet; so many main effects and pairs might come."""
        return cls({}, {1: Kind(n_main), 2: Kind(n_pairs)})

    def with_terms(self, axes: Axes, terms: Collection[Term]) -> Prior:
        """The same with terms of which nothing is known yet."""
        new = {}
        for term in terms:
            if term not in self.variances:
                kind = self.kinds[len(term)]
                new[term] = np.exp(2.0 * kind.centre) * kind.usual_shares(axes.shapes(term)[0])
        return replace(self, variances={**self.variances, **new})

    def only(self, terms: Collection[Term]) -> Prior:
        """The same without other terms; those that go count as nothing from now on."""
        return replace(self, variances={t: v for t, v in self.variances.items() if t in terms})

    def kept(self, least: float = 0.5) -> list[Term]:
        """Terms in which there is something with at least this probability."""
        return [t for t in self.variances if t not in self.posteriors or self.posteriors[t].inclusion >= least]

    def updated(self, basis: TermBasis, fit: Components) -> Prior:
        """The prior after one look at a fit of it."""
        kinds, posteriors, variances = dict(self.kinds), dict(self.posteriors), dict(self.variances)
        for size in (1, 2):
            places = [t for t, term in enumerate(basis.terms) if len(term) == size]
            if not places:
                continue
            terms = [basis.terms[t] for t in places]
            curves = np.array([evidence(fit, basis.slices[t]).log_bayes_factor(_FACTORS) for t in places])
            now = 0.5 * np.log([self.variances[term].sum() for term in terms])
            kind, found = _maximised(kinds[size], curves, now)
            posteriors |= dict(zip(terms, found, strict=True))
            for t, term, post in zip(places, terms, found, strict=True):
                share = self._shares(basis, t, fit)
                variances[term] = max(post.inclusion, LEAST) * np.exp(2.0 * post.centre) * share
            kinds[size] = replace(kind, shares=_usual_shares(basis, places, variances, found))
        return Prior(variances, kinds, posteriors)

    def _shares(self, basis: TermBasis, t: int, fit: Components) -> np.ndarray:
        """New shares of the shapes of a term."""
        term, S, s = basis.terms[t], basis.shapes[t], basis.slices[t]
        theta = self.variances[term]
        total = theta.sum()
        if len(theta) == 1:
            return np.ones(1)
        d = np.maximum(theta @ S, 1e-300)
        share = theta[:, None] * S / d
        signal = share @ (fit.beta[s] ** 2 / d)
        edf = share @ fit.edf[s]
        usual = self.kinds[len(term)].usual_shares(basis.axes.shapes(term)[0])
        new = (theta / total * signal + POOL * usual) / (edf + POOL)
        return new / new.sum()


def _maximised(kind: Kind, curves: np.ndarray, now: np.ndarray) -> tuple[Kind, list[Posterior]]:
    """π and μ by expectation maximisation, and the posterior of each term; ``now`` is t at factor one."""
    t = now[:, None] + 0.5 * np.log(_FACTORS)
    top = np.maximum(curves.max(axis=1, keepdims=True), 0.0)
    likelihood = np.exp(curves - top)
    inclusion, centre = kind.inclusion, kind.centre
    for _ in range(_ROUNDS):
        density = likelihood / np.cosh(np.clip(t - centre, -300.0, 300.0)) * (_STEP / np.pi)
        below = np.exp(-top[:, 0]) * (2.0 / np.pi) * np.arctan(np.exp(np.clip(t[:, 0] - centre, -700.0, 700.0)))
        there = density.sum(axis=1)
        weight = density / there[:, None]
        mean = np.einsum("gi,gi->g", weight, t)
        there = inclusion * (there + below)
        rho = there / (there + (1.0 - inclusion) * np.exp(-top[:, 0]))
        inclusion = (rho.sum() + 1.0) / (kind.candidates + 2.0)
        centre = (rho @ mean + np.log(USUAL)) / (rho.sum() + 1.0)
    spread = np.sqrt(np.maximum(np.einsum("gi,gi->g", weight, (t - mean[:, None]) ** 2), 0.0))
    found = [Posterior(*map(float, row)) for row in zip(rho, mean, spread, strict=True)]
    return replace(kind, inclusion=float(inclusion), centre=float(centre)), found


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
