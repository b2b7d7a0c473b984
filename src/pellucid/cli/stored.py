"""A model file with its spec: what ``predict``, ``explain``, ``report`` and ``info`` begin with."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import pellucid
from pellucid.cli.console import say
from pellucid.cli.errors import UserError
from pellucid.cli.formula import check_objects
from pellucid.cli.kinds import understand
from pellucid.cli.table_spec import TableSpec
from pellucid.cli.tables import Source
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

    def known(self, source: Source) -> dict[str, np.ndarray]:
        """Exposure and offset of a table; says so where the table has none."""
        if self.spec is None:
            return {}
        found, absent = self.spec.known(source)
        for name in absent:
            say(f"{source.name} has no column {name}: predictions are for exposure 1 and offset 0.")
        return found

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
        kinds = {str(c.name): _kind(c) for c in getattr(self.model, "columns_", ())}
        spec = TableSpec(columns={str(name): kinds.get(str(name), "") for name in names})
        told = {
            name: kind or understand(frame[name], comma=source.comma).kind
            for name, kind in spec.columns.items()
            if name in frame.columns
        }
        return TableSpec(columns={name: told.get(name, "number") for name in spec.columns}).pick(
            source, read=self._read
        )


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
