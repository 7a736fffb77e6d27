"""Notebooks as pages: each is executed, and cells and outputs become Markdown.

The notebooks in `docs/notebooks` have no outputs; what a page shows was computed when the site was made. A
cell that raises stops the making. ``python notebook_pages.py FOLDER`` executes them there by hand.
"""

from __future__ import annotations

import base64
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
COLORS = re.compile(r"\x1b\[[0-9;]*m")
LONGEST = 600
"""Seconds that a cell may take: the first run of a kernel function compiles it."""


def notebook_pages() -> dict[str, str | bytes]:
    """Pages and their pictures, by path below the folder of the docs."""
    pages: dict[str, str | bytes] = {}
    for path in sorted(FOLDER.glob("*.ipynb")):
        cells = executed(path)
        place = f"notebooks/{path.stem}"
        lines = [f"*[{path.name}]({path.name}), executed when this page was made.*", ""]
        for number, cell in enumerate(cells):
            if cell.cell_type == "markdown":
                lines += [cell.source, ""]
                if number == 0:  # the note stands below the title
                    lines = [cell.source.split("\n")[0], "", *lines[:2], *cell.source.split("\n")[1:], ""]
                continue
            lines += ["```python", cell.source, "```", ""]
            for kind, shown in _shown(cell.outputs):
                if kind == "picture":
                    picture = f"{place}-{sum(name.startswith(place) for name in pages) + 1}.png"
                    pages[picture] = base64.b64decode(shown)
                    lines += [f"![]({picture.removeprefix('notebooks/')})", ""]
                elif kind == "html":
                    lines += [shown.replace("\n", ""), ""]
                else:
                    lines += ["```text", COLORS.sub("", shown).rstrip(), "```", ""]
        pages[f"{place}.md"] = "\n".join(lines)
    return pages


def executed(path: Path) -> list[Any]:
    """The cells of a notebook, with their outputs."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=LONGEST, kernel_name="python3").execute()
    return list(notebook.cells)


def _shown(outputs: list[Any]) -> Iterator[tuple[str, str]]:
    """The outputs of a cell, each in its richest kind."""
    for output in outputs:
        if output.output_type == "stream" and output.name == "stdout":
            yield "text", output.text
        elif output.output_type in ("execute_result", "display_data"):
            data = output.data
            if "image/png" in data:
                yield "picture", data["image/png"]
            elif "text/html" in data:
                yield "html", data["text/html"]
            else:
                yield "text", data["text/plain"]


if __name__ == "__main__":
    for name, made in notebook_pages().items():
        target = Path(sys.argv[1]) / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(made if isinstance(made, bytes) else made.encode())
        print(target)
