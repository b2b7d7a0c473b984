"""A fitted model as one document: an HTML page that opens from disk and asks nothing of the network."""

from pellucid.report.build import build_report
from pellucid.report.page import Report

__all__ = ["Report", "build_report"]
