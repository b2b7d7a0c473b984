"""Models as files, and as programs, tables and workbooks for other systems."""

from pellucid.export.header import ModelFileInfo
from pellucid.export.json_scores import from_json, to_json
from pellucid.export.model_file import describe, load, save
from pellucid.export.onnx_model import to_onnx
from pellucid.export.python_source import to_python
from pellucid.export.scoring import ScoringModel
from pellucid.export.sheets import to_tables
from pellucid.export.sql import to_sql

__all__ = [
    "ModelFileInfo",
    "ScoringModel",
    "describe",
    "from_json",
    "load",
    "save",
    "to_json",
    "to_onnx",
    "to_python",
    "to_sql",
    "to_tables",
]
