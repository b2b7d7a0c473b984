"""Plain-language sentences under the pictures; they also stand for a picture that cannot be seen."""

from __future__ import annotations

import numpy as np

from pellucid.effects import Effect, Grid


def effect_caption(effect: Effect, scale: str) -> str:
    """What the effect of a term says, in a sentence or two."""
    if effect.values.ndim > len(effect.grids):
        return _several(effect, scale)
    if len(effect.grids) == 2:
        return _pair(effect, scale)
    grid = effect.grids[0]
    return _levels(effect, scale) if grid.levels else _curve(effect, grid, scale)


def _curve(effect: Effect, grid: Grid, scale: str) -> str:
    m = len(grid) - int(grid.missing)
    if m == 0:
        return "Every value is missing."
    x, values = np.asarray(grid.points[:m], dtype=float), effect.values[:m]
    name = cut(effect.name)
    low, high = int(np.argmin(values)), int(np.argmax(values))
    size = float(np.ptp(values))
    ends = f"from {_signed(values[0])} at {_number(x[0])} to {_signed(values[-1])} at {_number(x[-1])}"
    if size == 0:
        shape = f"{name} does not change the {scale}."
    elif np.all(np.diff(values) >= -1e-3 * size):
        shape = f"The {scale} rises with {name}: {ends}."
    elif np.all(np.diff(values) <= 1e-3 * size):
        shape = f"The {scale} falls as {name} grows: {ends}."
    else:
        shape = (
            f"The {scale} is lowest at {name} = {_number(x[low])} ({_signed(values[low])}) and highest at "
            f"{_number(x[high])} ({_signed(values[high])}), other things being equal."
        )
    return f"{shape} {_middle(x, effect.density[:m])}{_gap(effect, grid)}".strip()


def _middle(x: np.ndarray, density: np.ndarray) -> str:
    total = density.sum()
    if total <= 0 or len(x) < 3:
        return ""
    reached = np.cumsum(density) / total
    first, last = (_number(x[min(int(np.searchsorted(reached, q)), len(x) - 1)]) for q in (0.05, 0.95))
    return f"Nine rows in ten lie between {first} and {last}; outside, there is little to go by. "


def _gap(effect: Effect, grid: Grid) -> str:
    if not grid.missing:
        return ""
    share = 100 * effect.density[-1]
    return f"A missing value counts {_signed(effect.values[-1])} ({share:.1f} % of the rows)."


def _levels(effect: Effect, scale: str) -> str:
    low, high = int(np.argmin(effect.values)), int(np.argmax(effect.values))
    most = int(np.argmax(effect.density))
    names = [cut(_point(effect.grids[0], i)) for i in (high, low, most)]
    return (
        f"Highest for {names[0]} ({_signed(effect.values[high])} on the {scale}), lowest for {names[1]} "
        f"({_signed(effect.values[low])}). Most rows are {names[2]} ({100 * effect.density[most]:.0f} %)."
    )


def _pair(effect: Effect, scale: str) -> str:
    seen = effect.density > 0
    values = np.where(seen, effect.values, np.nan) if seen.any() else effect.values
    first, second = effect.grids
    texts = []
    for place, word in ((np.nanargmax(values), "most"), (np.nanargmin(values), "least")):
        i, j = np.unravel_index(int(place), values.shape)
        at = f"{cut(_point(first, int(i)))} and {cut(_point(second, int(j)))}"
        texts.append(f"{word} ({_signed(values[i, j])}) at {at}")
    return (
        f"What {cut(first.feature)} and {cut(second.feature)} do to the {scale} together, beyond what each "
        f"does alone: {texts[0]}, {texts[1]}. Hatched cells have no data."
    )


def _several(effect: Effect, scale: str) -> str:
    spread = np.ptp(effect.values, axis=tuple(range(len(effect.grids))))
    names = effect.outputs or tuple(f"output {k}" for k in range(len(spread)))
    most = int(np.argmax(spread))
    what = " and ".join(cut(grid.feature) for grid in effect.grids)
    verb = "matters" if len(effect.grids) == 1 else "matter"
    kind = "class" if scale.endswith(" of the class") else "output"
    scale = scale.removesuffix(" of the class")
    return (
        f"{what} {verb} most for {cut(names[most])}: from end to end the {scale} of this {kind} changes by "
        f"{_number(spread[most], 3)}."
    )


def _point(grid: Grid, i: int) -> str:
    last = i == len(grid) - 1
    if grid.levels or (grid.missing and last):
        return grid.labels()[i]
    return _number(float(grid.points[i]))


def _number(value: float, digits: int = 4) -> str:
    """A number as text, with a proper minus; powers of ten where it is huge or tiny, as in pictures."""
    rounded = float(f"{value:.{digits}g}") + 0.0  # no minus before zero
    plain = 1e4 <= abs(rounded) < 1e7
    return (f"{rounded:.0f}" if plain else f"{rounded:.{digits}g}").replace("-", "−")


def _signed(value: float) -> str:
    return ("+" if value >= 0 else "") + _number(value, 3)


def cut(text: str, most: int = 60) -> str:
    """Text of at most so many characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
