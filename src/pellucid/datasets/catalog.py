"""The tables that can be loaded: what they are called, what is predicted, and where they come from."""

import csv
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import resources
from typing import Any


@dataclass(frozen=True)
class Entry:
    """One table."""

    name: str  # name by which it is loaded
    task: str  # "regression", "counts", "classification", or the same with the kind of rows in brackets
    rows: int  # its size, target not counted, as the next
    features: int
    target: str  # name of the target column
    title: str  # where it comes from, in a line
    file: str = ""  # name of the file in a folder of data, without ending
    drop: tuple[str, ...] = ()  # columns that are not features: other targets, names, original splits
    openml: int | None = None  # number of the table on OpenML, where the same table is there
    bundled: str | None = None  # loader in ``sklearn.datasets``, where scikit-learn has it

    @property
    def stem(self) -> str:
        """Name of the file without ending."""
        return self.file or self.name

    @property
    def classes(self) -> bool:
        """Whether the target is a class."""
        return self.task.startswith("classification")


def _read() -> dict[str, Entry]:
    """The entries of ``catalog.csv`` by name; columns to drop are separated by spaces."""
    kinds: dict[str, Callable[[str], Any]] = {"rows": int, "features": int, "openml": int}
    kinds["drop"] = lambda text: tuple(text.split())
    with resources.files("pellucid.datasets").joinpath("catalog.csv").open(encoding="utf-8") as lines:
        rows: list[dict[str, Any]] = list(csv.DictReader(lines))
    given = [{key: kinds.get(key, str)(text) for key, text in row.items() if text} for row in rows]
    return {row["name"]: Entry(**row) for row in given}


CATALOG: dict[str, Entry] = _read()


def find_entry(name: str) -> Entry:
    """Return the entry of a name, a file name or a name in another spelling.

    >>> find_entry("Cod-RNA").name
    'cod_rna'
    """
    if not isinstance(name, str):
        raise TypeError(f"The name of a dataset is a string, got {type(name).__name__}.")
    names = {plain(key): entry for entry in CATALOG.values() for key in (entry.name, entry.stem)}
    entry = names.get(plain(name))
    if entry is None:
        near = get_close_matches(plain(name), list(names), n=3, cutoff=0.5)
        close = sorted({names[key].name for key in near})
        hint = f" Did you mean {' or '.join(repr(c) for c in close)}?" if close else ""
        raise ValueError(f"There is no dataset {name!r}.{hint} list_datasets() names all of them.")
    return entry


def plain(name: str) -> str:
    """Letters and digits of a name, in lower case: what is left when spellings differ."""
    return "".join(letter for letter in name.lower() if letter.isalnum())


def list_datasets(task: str | None = None) -> list[str]:
    """Names of the tables that :func:`load_dataset` knows.

    Parameters
    ----------
    task : {"regression", "counts", "classification"}, optional
        Only tables whose task begins like this.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from pellucid.datasets import list_datasets
    >>> list_datasets("counts")
    ['randhie', 'fremtpl']
    """
    names = [entry.name for entry in CATALOG.values() if task is None or entry.task.startswith(task)]
    if not names:
        tasks = sorted({entry.task.split()[0] for entry in CATALOG.values()})
        raise ValueError(f"There is no task {task!r}: tasks are {', '.join(tasks)}.")
    return names
