"""How good predictions are, where the tables that were predicted have the target as well."""

from typing import Any

import numpy as np
import pandas as pd

from pellucid.cli.console import say
from pellucid.cli.errors import UserError
from pellucid.cli.kinds import as_text, convert, understand
from pellucid.cli.scores import in_words, measure_answers
from pellucid.cli.stored import Stored
from pellucid.cli.tables import Source
from pellucid.effects.outcome_measures import losses_of


class Tally:
    """Predictions beside targets, where tables have the target as well: how good the predictions are."""

    def __init__(self) -> None:
        self._parts: list[tuple[np.ndarray, np.ndarray, np.ndarray | None, dict[str, np.ndarray]]] = []
        self._targets: np.ndarray | None = None
        self._whole = True

    def open(self, stored: Stored, source: Source) -> None:
        """Read the targets of a table; one without any ends the count."""
        self._targets = _targets_of(stored, source) if self._whole else None
        self._whole = self._targets is not None

    def wants_probabilities(self, stored: Stored) -> bool:
        """Whether probabilities of classes are needed too."""
        return self._whole and stored.task == "classification" and hasattr(stored.model, "predict_proba")

    def add(self, rows: slice, said: np.ndarray, P: Any, known: dict[str, np.ndarray]) -> None:
        """Count some rows of the table."""
        if self._targets is not None:
            self._parts.append((self._targets[rows], said, P, known))

    def tell(self, stored: Stored) -> None:
        """Say how good the predictions are."""
        if not self._whole or not self._parts or stored.spec is None:
            return
        y, said, P, known = zip(*self._parts, strict=True)
        together = {key: np.concatenate([one[key] for one in known]) for key in known[0]}
        everything = np.concatenate(said), None if P[0] is None else np.concatenate(P)
        try:
            found = measure_answers(stored.model, np.concatenate(y), everything, stored.task, None, together)
        except ValueError:  # the column is of that name, but something else
            return
        score = f"The table has {stored.spec.target} as well: {in_words(found)}"
        say(f"{score}; flattering if the model was fitted on these rows.")


def _targets_of(stored: Stored, source: Source) -> np.ndarray | None:
    """Targets in a table, if it has them all."""
    spec = stored.spec
    if spec is None or spec.target not in source.frame.columns:
        return None
    if any(loss.kind == "survival" for loss in losses_of(stored.model)):
        return None  # times alone do not say which of them ended with an event
    column = source.frame[spec.target]
    if understand(column, comma=source.comma).values.isna().any():
        return None
    try:
        return targets(stored, column, comma=source.comma)
    except (UserError, ValueError):  # the column is of that name, but something else
        return None


def targets(stored: Stored, column: pd.Series, *, comma: bool = False) -> np.ndarray:
    """Targets as the model knows them: numbers, or classes of the type of its own."""
    classes = getattr(stored.model, "classes_", None)
    if classes is None:
        return convert(column, "number", comma=comma).to_numpy(dtype=float)
    known = {str(c): c for c in classes.tolist()}
    text = as_text(column)
    known |= {name.lower(): c for name, c in known.items() if isinstance(c, bool)}
    strange = [v for v in text.unique() if v is not None and v not in known and v.lower() not in known]
    if strange:
        raise UserError(f"{column.name!r} holds {strange[0]!r}, which is none of the model's classes.")
    return np.array([known.get(v, known.get(str(v).lower())) for v in text])
