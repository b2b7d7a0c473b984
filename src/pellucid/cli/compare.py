"""``pellucid compare``: several models on the same random splits, with their ranks."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from pellucid.cli.console import Clock, say, show, show_json, show_table, warn, working
from pellucid.cli.errors import UserError, sentence
from pellucid.cli.rivals import Contestant, contestant, usual
from pellucid.cli.scores import MAIN, TITLES, as_words
from pellucid.cli.tables import read_table, write_table
from pellucid.cli.training import Training, held_out_rows, training_rows


@dataclass
class Results:
    """Scores of one model over the splits, and the seconds of each."""

    scores: list[dict[str, float]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    failure: str = ""

    def mean(self, name: str) -> float:
        """Mean of a measure."""
        values = [score[name] for score in self.scores if name in score]
        return float(np.mean(values)) if values else float("nan")

    def sd(self, name: str) -> float:
        """Standard deviation of a measure over the splits."""
        values = [score[name] for score in self.scores if name in score]
        return float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")


def compare_command(
    table: str,
    *,
    target: str,
    models: str | None = None,
    task: str | None = None,
    weights: str | None = None,
    exposure: str | None = None,
    offset: str | None = None,
    drop: Sequence[str] = (),
    splits: int = 3,
    split: float = 0.2,
    seed: int = 0,
    sheet: str | None = None,
    out: str | None = None,
    as_json: bool = False,
) -> None:
    """Compare models on the same splits."""
    if not 0 < split < 1:
        raise UserError(f"--split is a share of the rows between 0 and 1, got {split:g}.")
    training = training_rows(
        read_table(table, sheet=sheet),
        target,
        task=task,
        weights=weights,
        exposure=exposure,
        offset=offset,
        drop=drop,
    )
    names = list(dict.fromkeys(n.strip() for n in models.split(",") if n.strip())) if models else []
    names = names or usual(training.recipe, len(training))
    contestants = {name: contestant(name, training.recipe) for name in names}
    say(f"Comparing {', '.join(names)} on {splits} random splits, {100 * split:g} % of the rows held out.")
    results = _run(training, contestants, splits, split, seed)
    for name, result in results.items():
        if result.failure:
            warn(f"{name} could not be fitted: {result.failure}")
    ranks = _ranks(results, MAIN[training.target.task], splits)
    if all(result.failure for result in results.values()):
        raise UserError("None of the models could be fitted.")
    if out is not None:
        write_table(_tidy(results), out)
    if as_json:
        show_json(_document(training, results, ranks, splits, split, seed))
    else:
        _tell(training, results, ranks)


def _run(
    training: Training, contestants: dict[str, Contestant], splits: int, share: float, seed: int
) -> dict[str, Results]:
    results = {name: Results() for name in contestants}
    with working("comparing") as clock:
        for number in range(splits):
            train, test = (training.part(rows) for rows in held_out_rows(training, share, seed + number))
            for place, (name, one) in enumerate(contestants.items()):
                result = results[name]
                if result.failure:
                    continue
                start = time.monotonic()
                try:
                    result.scores.append(one.score(train, test))
                except (ValueError, TypeError, ArithmeticError, MemoryError, RuntimeError) as error:
                    result.failure = sentence(error)
                result.seconds.append(time.monotonic() - start)
                _foresee(clock, results, list(contestants)[place + 1 :], splits - number - 1)
    return results


def _foresee(clock: Clock, results: dict[str, Results], rest: list[str], splits_left: int) -> None:
    """Seconds left: a model takes as long as it took so far, one not seen yet as long as the others."""
    alive = {name: r for name, r in results.items() if not r.failure}
    seen = {name: float(np.mean(r.seconds)) for name, r in alive.items() if r.seconds}
    usually = float(np.mean(list(seen.values()))) if seen else 0.0
    per_split = sum(seen.get(name, usually) for name in alive)
    clock.left(splits_left * per_split + sum(seen.get(name, usually) for name in rest if name in alive))


def _ranks(results: dict[str, Results], main: str, splits: int) -> dict[str, float]:
    """Mean rank of each model over the splits by the main measure; 1 is best, and failures come last."""
    whole = [name for name, r in results.items() if not r.failure]
    if not whole:
        return {}
    values = np.array([[score.get(main, np.inf) for score in results[name].scores] for name in whole])
    ranks = np.mean([rankdata(column) for column in values.T], axis=0)
    return dict(zip(whole, ranks.tolist(), strict=True))


def _tell(training: Training, results: dict[str, Results], ranks: dict[str, float]) -> None:
    main = MAIN[training.target.task]
    second = {"regression": "r2", "classification": "accuracy", "counts": "explained"}[training.target.task]
    order = sorted(ranks, key=lambda name: (ranks[name], results[name].mean(main)))
    rows = []
    for name in order:
        r = results[name]
        spread = r.sd(main)
        rows.append(
            (
                name,
                as_words(main, r.mean(main)) + (f" ({spread:.2g})" if np.isfinite(spread) else ""),
                as_words(second, r.mean(second)),
                f"{ranks[name]:.1f}",
                f"{np.mean(r.seconds):.2f}",
            )
        )
    show_table(("model", f"{TITLES[main]} (sd)", TITLES[second], "mean rank", "seconds"), rows, best=0)
    show(f"Ranked by {TITLES[main]}, smaller is better; means over the splits.")


def _document(
    training: Training,
    results: dict[str, Results],
    ranks: dict[str, float],
    splits: int,
    share: float,
    seed: int,
) -> dict[str, Any]:
    main = MAIN[training.target.task]
    models = []
    for name in sorted(results, key=lambda name: (ranks.get(name, np.inf), results[name].mean(main))):
        r = results[name]
        entry: dict[str, Any] = {"model": name, "rank": ranks.get(name), "failure": r.failure or None}
        keys = list(dict.fromkeys(key for score in r.scores for key in score))
        entry["mean"] = {key: r.mean(key) for key in keys}
        entry["sd"] = {key: r.sd(key) for key in keys}
        entry |= {"scores": r.scores, "seconds": r.seconds}
        models.append(entry)
    return {
        "task": training.target.task,
        "target": training.recipe.target,
        "rows": len(training),
        "splits": splits,
        "held_out_share": share,
        "seed": seed,
        "ranked_by": main,
        "models": models,
    }


def _tidy(results: dict[str, Results]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"model": name, "split": number, **score, "seconds": r.seconds[number]}
            for name, r in results.items()
            for number, score in enumerate(r.scores)
        ]
    )
