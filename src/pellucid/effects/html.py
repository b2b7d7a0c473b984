"""Results as small HTML tables, for notebooks."""

from collections.abc import Sequence
from html import escape

_NUMBER = ' style="text-align: right"'


def html_table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table with a title; all text is escaped, and every column but the first is set to the right.

    Examples
    --------
    >>> html_table("A & B", ["term", "share"], [["x < 1", "0.5"]]).count("&lt;")
    1
    """

    def line(cells: Sequence[str], tag: str) -> str:
        styles = ["", *[_NUMBER] * (len(cells) - 1)]
        parts = [f"<{tag}{s}>{escape(cell)}</{tag}>" for s, cell in zip(styles, cells, strict=True)]
        return f"<tr>{''.join(parts)}</tr>"

    top = f"<thead>{line(head, 'th')}</thead>" if head else ""
    body = "".join(line(row, "td") for row in rows)
    return f"<table><caption>{escape(title)}</caption>{top}<tbody>{body}</tbody></table>"
