"""Models as files: written without code, read without running any."""

from pellucid.export.header import ModelFileInfo
from pellucid.export.model_file import describe, load, save

__all__ = ["ModelFileInfo", "describe", "load", "save"]
