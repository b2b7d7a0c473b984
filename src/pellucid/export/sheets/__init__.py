"""A model as tidy tables and as an Excel workbook.

:mod:`tables` has ``to_tables``. A workbook begins with the sheets of points and functions (:mod:`workbook`),
to which the formulas of the sheet for scoring (:mod:`score_sheet`) refer.
"""

from pellucid.export.sheets.tables import to_tables

__all__ = ["to_tables"]
