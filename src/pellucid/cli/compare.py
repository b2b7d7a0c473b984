"""``pellucid compare``: several models on the same random splits, with their ranks."""

import time
from dataclasses import dataclass, field
from typing import Any, Unpack

import numpy as np
import pandas as pd

from pellucid.cli.console import Clock, say, show, show_json, show_table, warn, working
from pellucid.cli.errors import UserError, sentence
from pellucid.cli.options import Roles
from pellucid.cli.rivals import Contestant, contestant, usual
from pellucid.cli.scores import MAIN
from pellucid.cli.tables import read_table
from pellucid.cli.training import Training, held_out_rows, training_rows
from pellucid.cli.writing import write_table
from pellucid.effects.measures import TITLES, as_words
from pellucid.effects.summary import counted


@dataclass
class Results:
    """Scores of one model over the splits, and the seconds of each."""

    scores: list[dict[str, float]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    failure: str = ""

    def mean(self, name: str) -> float:
        """Mean of a measure."""
        return float(pd.Series([score.get(name, np.nan) for score in self.scores], dtype=float).mean())

    def sd(self, name: str) -> float:
        """Standard deviation of a measure over the splits."""
        return float(pd.Series([score.get(name, np.nan) for score in self.scores], dtype=float).std())


def compare_command(
    table: str,
    *,
    models: str | None,
    splits: int,
    split: float,
    seed: int,
    sheet: str | None,
    out: str | None,
    as_json: bool,
    **roles: Unpack[Roles],
) -> None:
    """Compare models on the same splits."""
    if not 0 < split < 1:
        raise UserError(f"--split is a share of the rows between 0 and 1, got {split:g}.")
    training = training_rows(read_table(table, sheet=sheet), **roles)
    names = list(dict.fromkeys(n.strip() for n in models.split(",") if n.strip())) if models else []
    names = names or usual(training.spec, len(training))
    contestants = {name: contestant(name, training.spec) for name in names}
    held_out = f"{counted(splits, 'random split')}, {100 * split:g} % of the rows held out"
    say(f"Comparing {', '.join(names)} on {held_out}.")
    results = _run(training, contestants, splits, split, seed)
    for name, result in results.items():
        if result.failure:
            warn(f"{name} could not be fitted: {result.failure}")
    main = MAIN[training.target.task]
    ranks = _ranks(results, main)
    if not ranks:
        raise UserError("None of the models could be fitted.")
    order = sorted(results, key=lambda name: (ranks.get(name, np.inf), results[name].mean(main)))
    results = {name: results[name] for name in order}
    if out is not None:
        write_table(_tidy(results), out)
    if as_json:
        about = {"splits": splits, "held_out_share": split, "seed": seed, "ranked_by": main}
        show_json(_document(training, results, ranks) | about)
    else:
        _tell(training.target.task, results, ranks)


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


def _ranks(results: dict[str, Results], main: str) -> dict[str, float]:
    """Mean rank over the splits, by the main measure, of each model that could be fitted; 1 is best."""
    values = {
        name: [score.get(main, np.inf) for score in r.scores] for name, r in results.items() if not r.failure
    }
    return pd.DataFrame(values).rank(axis=1).mean().to_dict()


def _tell(task: str, results: dict[str, Results], ranks: dict[str, float]) -> None:
    main, second = MAIN[task], {"regression": "r2", "classification": "accuracy", "counts": "explained"}[task]
    rows = []
    for name, r in results.items():
        if name in ranks:
            spread = f" ({r.sd(main):.2g})" if np.isfinite(r.sd(main)) else ""
            shown = (as_words(main, r.mean(main)) + spread, as_words(second, r.mean(second)))
            rows.append((name, *shown, f"{ranks[name]:.1f}", f"{np.mean(r.seconds):.2f}"))
    show_table(("model", f"{TITLES[main]} (sd)", TITLES[second], "mean rank", "seconds"), rows, best=0)
    show(f"Ranked by {TITLES[main]}, smaller is better; means over the splits.")


def _document(training: Training, results: dict[str, Results], ranks: dict[str, float]) -> dict[str, Any]:
    models = []
    for name, r in results.items():
        keys = list(dict.fromkeys(key for score in r.scores for key in score))
        models.append(
            {
                "model": name,
                "rank": ranks.get(name),
                "failure": r.failure or None,
                "mean": {key: r.mean(key) for key in keys},
                "sd": {key: r.sd(key) for key in keys},
                "scores": r.scores,
                "seconds": r.seconds,
            }
        )
    spec = training.spec
    return {"task": spec.task, "target": spec.target, "rows": len(training), "models": models}


def _tidy(results: dict[str, Results]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"model": name, "split": number, **score, "seconds": r.seconds[number]}
            for name, r in results.items()
            for number, score in enumerate(r.scores)
        ]
    )
