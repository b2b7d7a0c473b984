"""What can be taken away: the edited model as a file, as statements, tables and pages."""

from __future__ import annotations

import io
import json
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pellucid.export import save, to_json, to_python, to_sql, to_tables
from pellucid.report import build_report
from pellucid.serve.errors import RequestError
from pellucid.serve.served import Served


@dataclass(frozen=True)
class Download:
    """One thing to take away."""

    name: str
    ending: str
    media: str
    title: str
    make: Callable[[Any, Served], bytes]
    needs: Callable[[Any, Served], bool]


def _has_scores(model: Any, served: Served) -> bool:
    return hasattr(model, "contributions") or getattr(model, "coef_", None) is not None


def _always(model: Any, served: Served) -> bool:
    return True


def _file(model: Any, served: Served) -> bytes:
    out = io.BytesIO()
    save(model, out, notes=served.notes)
    return out.getvalue()


def _text(write: Callable[[Any], str]) -> Callable[[Any, Served], bytes]:
    return lambda model, served: (write(model) + "\n").encode("utf-8")


def _tables(model: Any, served: Served) -> bytes:
    """One CSV file per table; names inside the archive are numbers, as names of terms may be anything."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        contents = []
        for k, (name, table) in enumerate(to_tables(model).items()):
            archive.writestr(f"{k:03d}.csv", table.to_csv(index=False, lineterminator="\n"))
            contents.append({"file": f"{k:03d}.csv", "table": name})
        archive.writestr("contents.json", json.dumps(contents, ensure_ascii=False, indent=1))
    return out.getvalue()


def _workbook(model: Any, served: Served) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.xlsx"
        to_tables(model, path)
        return path.read_bytes()


def _report(model: Any, served: Served) -> bytes:
    sample = served.sample
    assert sample is not None
    about: dict[str, Any] = {**sample.known, "title": served.title}
    page = build_report(model, sample.X, sample.y, sample_weight=sample.weight, **about)
    return page.html.encode("utf-8")


def _log(model: Any, served: Served) -> bytes:
    return ("\n".join(str(edit) for edit in getattr(model, "edits_", [])) + "\n").encode("utf-8")


DOWNLOADS = {
    d.name: d
    for d in (
        Download(
            "model", "pellucid", "application/octet-stream", "Model file, to be loaded again", _file, _always
        ),
        Download("sql", "sql", "text/plain", "SQL statement that scores a table", _text(to_sql), _has_scores),
        Download(
            "json", "json", "application/json", "Tables as one JSON document", _text(to_json), _has_scores
        ),
        Download(
            "python", "py", "text/plain", "Python module without dependencies", _text(to_python), _has_scores
        ),
        Download("tables", "zip", "application/zip", "Tables as CSV files", _tables, _has_scores),
        Download(
            "workbook",
            "xlsx",
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            "Excel workbook that scores",
            _workbook,
            lambda model, served: find_spec("openpyxl") is not None and _has_scores(model, served),
        ),
        Download(
            "report",
            "html",
            "text/html",
            "Report as one HTML file",
            _report,
            lambda model, served: served.sample is not None,
        ),
        Download(
            "log", "txt", "text/plain", "Log of edits", _log, lambda model, served: hasattr(model, "edits_")
        ),
    )
}


def downloads_of(model: Any, served: Served) -> list[dict[str, str]]:
    """What can be taken away of this model."""
    return [
        {"name": d.name, "ending": d.ending, "title": d.title}
        for d in DOWNLOADS.values()
        if d.needs(model, served)
    ]


def make_download(name: Any, model: Any, served: Served) -> tuple[bytes, Download]:
    """The bytes of a download; ``name`` is one of those offered, never a path."""
    inner = getattr(model, "best_estimator_", model)
    download = DOWNLOADS.get(name) if isinstance(name, str) else None
    if download is None or not download.needs(inner, served):
        raise RequestError(404, "There is nothing of this name to take away.")
    try:
        return download.make(model if name in ("model", "report") else inner, served), download
    except (ValueError, TypeError) as error:
        raise RequestError(422, " ".join(str(error).split())[:400]) from None
