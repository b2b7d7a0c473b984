"""Data to try models on: functions whose terms are known, and loaders for public tables.

The package holds no data. :func:`load_dataset` reads a folder of yours, a cache, or downloads once.
"""

from pellucid.datasets.catalog import Entry, list_datasets
from pellucid.datasets.geometries import Geometries, read_geometries, write_geometries
from pellucid.datasets.loaders import load_dataset
from pellucid.datasets.synthetic import make_synthetic

__all__ = [
    "Entry",
    "Geometries",
    "list_datasets",
    "load_dataset",
    "make_synthetic",
    "read_geometries",
    "write_geometries",
]
