"""Models as files, and as programs, tables and workbooks for other systems.

:mod:`model_file` keeps a whole model. All other exports write numbers to score with: :mod:`scoring` reads a
fitted model as a :class:`ScoringModel` of features, axes, terms and a response; :mod:`document` (JSON),
:mod:`python_source`, :mod:`sql`, :mod:`sheets` and :mod:`onnx` write it, each in its own
language. :mod:`calculator` hands force fields to ASE.
"""

from pellucid.export.calculator import to_ase
from pellucid.export.document import from_json, to_json
from pellucid.export.model_file import ModelFileInfo, describe, load, save
from pellucid.export.onnx import to_onnx
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
    "to_ase",
    "to_json",
    "to_onnx",
    "to_python",
    "to_sql",
    "to_tables",
]
