"""A model file with its spec: what ``predict``, ``explain``, ``report`` and ``info`` begin with."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd

import pellucid
from pellucid.cli.console import say, warn
from pellucid.cli.errors import UserError
from pellucid.cli.formula import check_objects
from pellucid.cli.kinds import understand
from pellucid.cli.table_spec import TableSpec
from pellucid.cli.tables import Source
from pellucid.data.unseen import Unseen
from pellucid.effects.terms import columns_read
from pellucid.exceptions import ModelFileError
from pellucid.export import describe
from pellucid.kernels import Kernel


@dataclass(frozen=True)
class Stored:
    """A model from a file, and how tables get to it."""

    model: Any
    spec: TableSpec | None
    name: str

    def rows(self, source: Source) -> pd.DataFrame:
        """A table in the form in which the model takes it."""
        X = self._by_names(source) if self.spec is None else self.spec.apply(self.pick(source))
        kernel = getattr(self.model, "kernel_", None)
        if isinstance(X, pd.DataFrame) and isinstance(kernel, Kernel) and kernel.reads_objects:
            check_objects(kernel, X)
        return X

    @property
    def _read(self) -> frozenset[str] | None:
        """Columns of tables that the model reads, if these are the columns that it was fitted on."""
        read = columns_read(self.model)
        plain = self.spec is None or self.spec.takes != "numbers"
        return read if plain and not hasattr(self.model, "formula_") else None

    def pick(self, source: Source) -> pd.DataFrame:
        """The features of a table as they came, with anything in columns that the model does not read."""
        assert self.spec is not None
        return self.spec.pick(source, read=self._read)

    def known(self, source: Source, *, tell: bool = True) -> dict[str, np.ndarray]:
        """Exposure and offset of a table; says so where the table has none."""
        if self.spec is None:
            return {}
        found, absent = self.spec.known(source)
        for name in absent if tell else ():
            say(f"{source.name} has no column {name}: predictions are for exposure 1 and offset 0.")
        return found

    def tell_unseen(self, unseen: Unseen) -> None:
        """Tell of levels that training did not have, in columns that the model reads."""
        message = unseen.message(columns_read(self.model))
        if message:
            warn(message)

    @property
    def task(self) -> str:
        """What the model is for: classification, counts or regression."""
        if self.spec is not None and self.spec.task:
            return self.spec.task
        return "classification" if hasattr(self.model, "classes_") else "regression"

    def _by_names(self, source: Source) -> pd.DataFrame:
        """A table for a model that was saved from Python: its features by name, or by number."""
        names = getattr(self.model, "feature_names_in_", None)
        frame = source.frame
        if names is None:
            wanted = getattr(self.model, "n_features_in_", len(frame.columns))
            if len(frame.columns) != wanted:
                raise UserError(
                    f"The model takes {wanted} features without names, and {source.name!r} has "
                    f"{len(frame.columns)} columns."
                )
            return frame.apply(lambda c: understand(c, comma=source.comma).values).to_numpy()
        return self._spec_for(source).pick(source, read=self._read)

    def settled(self, source: Source) -> Self:
        """The same with the kinds of the features as they are in this table, for more rows like these."""
        if self.spec is not None or getattr(self.model, "feature_names_in_", None) is None:
            return self
        return replace(self, spec=self._spec_for(source))

    def _spec_for(self, source: Source) -> TableSpec:
        """What has to be known to use a table for a model that was saved from Python."""
        names, frame = self.model.feature_names_in_, source.frame
        kinds = {str(c.name): _kind(c) for c in getattr(self.model, "columns_", ())}
        spec = TableSpec(columns={str(name): kinds.get(str(name), "") for name in names})
        told = {
            name: kind or understand(frame[name], comma=source.comma).kind
            for name, kind in spec.columns.items()
            if name in frame.columns
        }
        target = getattr(self.model, "roles_", {}).get("y", "")
        return TableSpec(target=target, columns={name: told.get(name, "number") for name in spec.columns})


def _kind(column: Any) -> str:
    if getattr(column, "levels", None) is not None:
        return "category"
    return "date" if getattr(column, "dates", False) else "number"


def load_model(place: str) -> Stored:
    """Load a model file."""
    path = Path(place)
    if path.is_dir():
        raise IsADirectoryError(21, "is a folder", place)
    try:
        model = pellucid.load(path)
        spec = TableSpec.from_notes(describe(path).notes)
    except ModelFileError as error:
        raise UserError(f"{path.name!r} cannot be used: {error}") from error
    if isinstance(model, pellucid.ForceField):
        raise UserError(
            f"{path.name!r} holds a force field, which reads geometries, not tables: "
            f"pellucid forces predict {path.name} GEOMETRIES --out FILE, or pellucid forces info {path.name}"
        )
    if not hasattr(model, "predict"):
        raise UserError(f"{path.name!r} holds a {type(model).__name__}, which is not a model.")
    return Stored(model, spec, path.name)
