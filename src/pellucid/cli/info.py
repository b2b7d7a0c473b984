"""``pellucid info``: what is in a model file, without loading the model."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from pellucid.cli.console import clean, show, show_json
from pellucid.cli.errors import UserError
from pellucid.cli.scores import in_words
from pellucid.cli.table_spec import TableSpec
from pellucid.effects.summary import counted
from pellucid.exceptions import ModelFileError
from pellucid.export import describe


def info_command(model: str, *, as_json: bool) -> None:
    """Describe a model file."""
    path = Path(model)
    if path.is_dir():
        raise IsADirectoryError(21, "is a folder", model)
    try:
        info = describe(path)
    except ModelFileError as error:
        raise UserError(f"{path.name!r} cannot be described: {error}") from error
    spec = TableSpec.from_notes(info.notes)
    if as_json:
        fit = None if spec is None else asdict(spec)
        document = {
            "file": path.name,
            "class": info.class_name.rpartition(".")[2],
            "intact": info.intact,
            "bytes": info.size,
            "versions": info.versions,
            "created": info.created,
            "feature_names": info.feature_names,
            "notes": None if spec is not None else info.notes,
            "fit": fit,
        }
        show_json(document)
        return
    facts: list[tuple[str, Any]] = [
        ("file", path.name),
        ("model", info.class_name.rpartition(".")[2]),
        ("intact", "yes, all checksums are right" if info.intact else "NO: the file was damaged or altered"),
        ("size", f"{info.size:,} bytes, {info.n_arrays} arrays of {info.array_bytes:,} bytes"),
        ("written by", ", ".join(f"{name} {version}" for name, version in info.versions.items())),
    ]
    if info.created:
        facts.append(("created", info.created))
    if spec is not None:
        facts += _fit_facts(spec)
    else:
        names = info.feature_names
        facts.append(("features", "without names" if names is None else _listed(list(names))))
        facts.append(("notes", info.notes or "none"))
    width = max(len(label) for label, _ in facts)
    show("\n".join(f"{label:<{width}}  {clean(value)}" for label, value in facts))


def _fit_facts(spec: TableSpec) -> list[tuple[str, Any]]:
    facts: list[tuple[str, Any]] = [
        ("fitted on", f"{spec.data}, {counted(spec.rows, 'row')}"),
        ("task", f"{spec.task} of {spec.target}"),
        ("features", _listed([f"{name} ({kind})" for name, kind in spec.columns.items()])),
    ]
    read = f"{spec.weights}, read as {spec.weights_as}" if spec.weights_as else spec.weights
    columns = (("weights", read), ("exposure", spec.exposure), ("offset", spec.offset))
    facts += [(label, name) for label, name in columns if name is not None]
    if spec.kernel:
        facts.append(("kernel", spec.kernel))
    if spec.held_out:
        facts.append((f"on {100 * spec.split:g} % held out", in_words(spec.held_out)))
    return facts


def _listed(names: list[str]) -> str:
    return ", ".join(names[:30]) + (f", ... {len(names)} in all" if len(names) > 30 else "")
