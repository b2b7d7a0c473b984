"""A model as one file of JSON and arrays, with checksums and without code.

In the order of a save: :mod:`files` has ``save``, ``load`` and ``describe``; :mod:`encode` turns the model
into JSON and a list of arrays, with :mod:`registry` saying which classes a file may hold, :mod:`fields` and
:mod:`fitted` which fields each of them has, :mod:`shapes` which arrays go together, and :mod:`atoms` how
single values are written; :mod:`arrays` describes the arrays, and :mod:`header` who wrote the file;
:mod:`archive` is the zip with its checksums. A load takes the way back: archive, header, :mod:`parse` for the
JSON, arrays, and :mod:`decode`, which checks what ``encode`` made.
"""

from pellucid.export.model_file.files import describe, load, save
from pellucid.export.model_file.header import ModelFileInfo

__all__ = ["ModelFileInfo", "describe", "load", "save"]
