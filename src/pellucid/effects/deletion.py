"""Whether contributions of places tell what happens when a place is removed."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pellucid.effects.parts import SiteMap, Summand, explain_parts, summands, without_parts
from pellucid.kernels import CountedParts, Kernel
from pellucid.linalg import count_table


@dataclass(frozen=True)
class DeletionFidelity:
    """Contributions of places beside the exact changes of the prediction when each of them is removed."""

    contributions: np.ndarray
    """Of every letter, node or atom of the objects, with half of its bonds."""
    changes: np.ndarray
    """Prediction with the place less the prediction without it."""
    objects: np.ndarray
    """Number of the object of each place."""

    @property
    def r2(self) -> float:
        """Squared correlation of contributions and changes; NaN where one of them does not vary."""
        c, d = (v - v.mean() for v in (self.contributions, self.changes))
        size = (c @ c) * (d @ d)
        return float((c @ d) ** 2 / size) if size > 0 else float("nan")

    @property
    def slope(self) -> float:
        """Change per unit of contribution: some words long, as a place is part of several words at once."""
        c = self.contributions - self.contributions.mean()
        return float(c @ self.changes / (c @ c)) if c @ c > 0 else float("nan")

    def __str__(self) -> str:
        return f"deletion fidelity R² {self.r2:.3f} over {len(self.changes)} places, slope {self.slope:.3g}"


def measure_deletion(
    kernel: Kernel, rows: np.ndarray, train: np.ndarray, dual: np.ndarray, *, how: str = "mask"
) -> DeletionFidelity:
    """Compare the contributions of places with exact removal.

    Parameters
    ----------
    kernel, rows, train, dual
        As in :func:`explain_parts`.
    how : {"mask", "mutate"}
        ``"mask"`` removes all occurrences that cover the place, as if the letter or atom were unknown;
        ``"mutate"``, for sequences, takes the mean over all other letters in its place.
    """
    if how not in ("mask", "mutate"):
        raise ValueError(f"how must be 'mask' or 'mutate', got {how!r}.")
    terms = [term for term in summands(kernel) if isinstance(term.kernel, CountedParts)]
    if not terms:
        raise ValueError(without_parts(kernel))
    explained = explain_parts(kernel, rows, train, dual, 0.0)
    removal = _masked if how == "mask" else _mutated
    places = list(dict.fromkeys(term.place for term in terms))
    contributions, changes, objects = [], [], []
    for number, place in enumerate(places):
        maps = [one.maps[number] for one in explained]
        # a place is gone for all kernels that read it at once
        removed = [
            removal(term, maps, term.select(train), term.factor * dual)
            for term in terms
            if term.place == place
        ]
        for i, each in enumerate(zip(*removed, strict=True)):
            contributions.append(maps[i].on_labels)
            changes.append(np.sum(each, axis=0))
            objects.append(np.full(len(maps[i].labels), i))
    return DeletionFidelity(np.concatenate(contributions), np.concatenate(changes), np.concatenate(objects))


def _masked(term: Summand, maps: list[SiteMap], train: np.ndarray, dual: np.ndarray) -> Iterator[np.ndarray]:
    kernel = term.kernel
    assert isinstance(kernel, CountedParts)
    for one in maps:
        item = np.empty(1, dtype=object)
        item[0] = one.item
        found = kernel._occurrences(np.concatenate([item, train]), covers=1)
        table = found.table(1 + len(train))
        mine = found.row == 0
        part, value = found.part[mine], found.value[mine]
        n_labels = len(one.labels)
        covered = np.zeros((n_labels, len(part)), dtype=bool)
        for o, cover in enumerate(found.covers):
            sites = np.asarray(cover, dtype=np.intp)
            covered[sites[sites < n_labels], o] = True
        site, occurrence = np.nonzero(~covered)
        left = count_table(site, part[occurrence], value[occurrence], (n_labels, table.shape[1]))
        left.eliminate_zeros()
        yield (kernel.compare(table[:1], table[1:]) - kernel.compare(left, table[1:])) @ dual


def _mutated(term: Summand, maps: list[SiteMap], train: np.ndarray, dual: np.ndarray) -> Iterator[np.ndarray]:
    letters = getattr(term.kernel, "alphabet", None) or "".join(
        sorted({letter for text in train if isinstance(text, str) for letter in text})
    )
    if not all(isinstance(one.item, str) and len(one.item) == len(one.labels) for one in maps):
        raise ValueError("how='mutate' is for sequences; use how='mask' for graphs and molecules.")
    for one in maps:
        texts = np.array(
            [
                one.item[:i] + letter + one.item[i + 1 :]
                for i in range(len(one.item))
                for letter in letters
                if letter != one.item[i]
            ]
            + [one.item],
            dtype=object,
        )
        values = term.kernel._gram(texts, train) @ dual
        where = [i for i in range(len(one.item)) for letter in letters if letter != one.item[i]]
        mean = np.bincount(where, values[:-1], len(one.item)) / np.bincount(where, minlength=len(one.item))
        yield values[-1] - mean
