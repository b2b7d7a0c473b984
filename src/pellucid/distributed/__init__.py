"""Rows on a cluster: Dask arrays and data frames as sources, on any scheduler."""

from pellucid.distributed.dask_source import DaskSource, as_source

__all__ = ["DaskSource", "as_source"]
