"""Tables that notebooks show."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

MOST_ROWS = 30


def html_table(title: str, rows: Iterable[Iterable[object]]) -> str:
    """A title and a table; of more rows than `MOST_ROWS` the number is said.

    Examples
    --------
    >>> html_table("<Model>", [("a", 1)])
    '<p>&lt;Model&gt;</p><table><tr><td>a</td><td>1</td></tr></table>'
    """
    listed = [list(row) for row in rows]
    cells = ("".join(f"<td>{escape(str(cell))}</td>" for cell in row) for row in listed[:MOST_ROWS])
    more = f"<p>… and {len(listed) - MOST_ROWS} more</p>" if len(listed) > MOST_ROWS else ""
    return f"<p>{escape(title)}</p><table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>{more}"
