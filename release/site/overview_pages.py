"""Pages that lead to others: the gallery of examples, and the list of measurements."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[2]
GALLERY = "Models to run and to change, each with its file, a picture, and what it was checked against."
NUMBERS = """What was measured, and how to measure it again: a script for each, from a checkout. Compare rows
of one table only; figures depend on the machine, and on what else runs there."""


def gallery_page(pages: Iterable[str]) -> str:
    """A card for each example: its picture, title and first sentences.

    Parameters
    ----------
    pages : iterable of str
        Paths of READMEs, below the root of the repository.
    """
    lines = ["# Examples", "", GALLERY, "", '<div class="gallery" markdown>', ""]
    for page in pages:
        title, text, picture = _beginning(page)
        if picture:
            lines += [f"-   [![]({picture})]({page})", ""]
        lines += [f"{'    ' if picture else '-   '}**[{title}]({page})**", "", f"    {text}", ""]
    return "\n".join([*lines, "</div>", ""])


def numbers_page(pages: Iterable[str]) -> str:
    """A line for each benchmark."""
    lines = ["# Numbers", "", NUMBERS, "", "| | scripts |", "|---|---|"]
    for page in pages:
        scripts = re.findall(r"python benchmarks/\w+/(\w+\.py)", (ROOT / page).read_text("utf-8"))
        names = ", ".join(f"`{name}`" for name in dict.fromkeys(scripts))
        lines.append(f"| [{_beginning(page)[0]}]({page}) | {names} |")
    return "\n".join([*lines, ""])


def _beginning(page: str) -> tuple[str, str, str]:
    """Title, first paragraph and first picture of the README of a page."""
    text = (ROOT / page).read_text("utf-8")
    title, _, rest = text.partition("\n")
    paragraph = " ".join(rest.strip().split("\n\n")[0].split("\n"))
    paragraph = paragraph[:-1] + "." if paragraph.endswith(":") else paragraph
    picture = re.search(r"!\[[^\]]*\]\(([^)]+\.(?:png|svg))\)", text)
    place = ((ROOT / page).parent / picture[1]).resolve().relative_to(ROOT).as_posix() if picture else ""
    return title.removeprefix("# "), paragraph, place.removeprefix("docs/")
