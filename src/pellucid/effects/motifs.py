"""The parts that matter over all training objects, with standard errors and stability."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pellucid.effects.parts import summands, without_parts
from pellucid.kernels import CountedParts, Kernel


@dataclass(frozen=True)
class Motifs:
    """Parts in the order of how much they contribute where they occur, strongest first."""

    parts: tuple[str, ...]
    """Words, subtrees or fragments."""
    kernels: tuple[str, ...]
    """The kernel to which each part belongs."""
    weight: np.ndarray
    """Mean contribution to the predictions of the training objects that have the part."""
    standard_error: np.ndarray | None
    """Of the weight, by the jackknife: from the weights of all fits that leave one object out."""
    stability: np.ndarray | None
    """Share of the leave-one-out fits in which the part is among as many strongest as are listed."""
    n_objects: np.ndarray
    """How many training objects have the part."""

    def __len__(self) -> int:
        return len(self.parts)

    def __str__(self) -> str:
        lines = [f"{'weight':>10} {'std. error':>10} {'stability':>9} {'objects':>7}  part"]
        for i, part in enumerate(self.parts):
            error = "" if self.standard_error is None else f"{self.standard_error[i]:.3g}"
            stable = "" if self.stability is None else f"{self.stability[i]:.2f}"
            lines.append(f"{self.weight[i]:+10.4g} {error:>10} {stable:>9} {self.n_objects[i]:>7}  {part}")
        return "\n".join(lines)


def find_motifs(
    kernel: Kernel,
    train: np.ndarray,
    dual: np.ndarray,
    deletion: Callable[[np.ndarray], np.ndarray] | None = None,
    *,
    n_motifs: int = 20,
    least: int = 3,
) -> Motifs:
    """Parts with the largest mean contributions.

    Parameters
    ----------
    kernel, train, dual
        As in :func:`explain_parts`.
    deletion : callable, optional
        Maps rows ``G`` of shape (m, n) to the changes of ``G @ dual`` when each training row leaves, (m, n).
    n_motifs : int
        How many are listed. Four times as many compete in the leave-one-out fits.
    least : int
        Parts of fewer objects are left out, unless there are fewer objects.
    """
    names: list[str] = []
    kernels: list[str] = []
    weights, objects, rows = [], [], []
    for term in summands(kernel):
        if not isinstance(term.kernel, CountedParts):
            continue
        objects_of = term.select(train)
        found = term.kernel._occurrences(objects_of)
        table = found.table(len(objects_of))
        share = term.kernel.shares(table, table, term.factor * dual[:, None])[:, 0]
        has = np.bincount(table.indices, minlength=table.shape[1])
        mean = np.bincount(table.indices, share, minlength=table.shape[1]) / np.maximum(has, 1)
        mean[has < min(least, len(train))] = 0.0
        best = np.argsort(-np.abs(mean), kind="stable")[: 4 * n_motifs]
        best = best[mean[best] != 0.0]
        names += found.names(best)
        kernels += [term.name] * len(best)
        weights.append(mean[best])
        objects.append(has[best])
        if deletion is not None:
            rows.append(term.factor * term.kernel.mean_shares(table, best))
    if not weights:
        raise ValueError(without_parts(kernel))
    weight, n_objects = np.concatenate(weights), np.concatenate(objects)
    order = np.argsort(-np.abs(weight), kind="stable")
    top = order[:n_motifs]
    error = stable = None
    if deletion is not None:
        without = weight[:, None] + deletion(np.concatenate(rows))
        n = without.shape[1]
        error = np.sqrt((n - 1) / n * ((without - without.mean(axis=1, keepdims=True)) ** 2).sum(axis=1))[top]
        size = np.abs(without)
        bar = np.sort(size, axis=0)[-len(top)] if len(top) else np.zeros(n)
        stable = (size >= bar).mean(axis=1)[top]
    return Motifs(
        tuple(names[p] for p in top),
        tuple(kernels[p] for p in top),
        weight[top],
        error,
        stable,
        n_objects[top],
    )
