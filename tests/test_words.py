"""Phrases that must not come back: in texts, docstrings, comments and messages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("benchmarks", "compiler", "cosim", "docs", "examples", "fmu", "plugins", "release")
PHRASES = {
    r"\b(?:somebody|nobody|everybody|anybody)\b": "say who or what it is, or use the passive",
    r"\bstrangers?\b": "a third party",
    r"\bstands? on\b": "is on, is set to, belongs to",
    r"\bsuch an? one\b": "name it again",
    r"\bwall's clock\b": "wall-clock time",
    r"\bout of nothing\b": "name what creates it",
    r"\bthe whole of it\b": "name the thing: is the complete …",
    r"\bwhich (?:a warning says|is said)\b": "with a warning; a message names …",
    r"\blooks? what\b": "checks which",
    r"\bthat all see\b": "that all read, shared",
    r"\bcounts? in place of\b": "overrides",
    r"(?<!here\s)\bis no (?!longer|more|further|later|less|such|good|help|reason|place|noise|power)\w": (
        "is not a …"
    ),
    r"\bwhat is not as usual\b": "name the cases",
    r"\bin processes of their own\b": "in separate processes",
    r"\bseen besides\b": "further variables",
    r"\bwhat is looked for\b": "name it: the parameter, the value",
    r"\bin this very\b": "in this",
    r"\bgone on from\b": "the search starts at …",
    r"\bhave anyway\b": "compute in any case",
    r"\bnot of one number\b": "the number of … is not the number of …",
    r"\blies? deep in\b": "overlap too deeply",
    r"\bnothing has come from\b": "no data received",
    r"\bfool-?proof\b|\bof course\b|\bsimply put\b|\bneedless to say\b": "leave it out",
}


def texts() -> list[Path]:
    found = [path for path in ROOT.iterdir() if path.suffix in (".md", ".toml", ".ini", ".yml", ".cff")]
    for folder in FOLDERS:
        found += [
            p for suffix in ("md", "py", "toml", "c", "h") for p in (ROOT / folder).rglob(f"*.{suffix}")
        ]
    return [path for path in found if ".peers" not in path.parts]


def faults(text: str) -> list[str]:
    """What stands in a text that should not, with the line and what to write instead."""
    small = text.lower()  # a search that ignores case takes three times as long
    return [
        f"{small.count(chr(10), 0, match.start()) + 1}: '{match.group()}': {instead}"
        for phrase, instead in PHRASES.items()
        for match in re.finditer(phrase, small)
    ]


def test_phrases_do_not_come_back() -> None:
    paths = texts()
    assert len(paths) > 500
    found = {path.relative_to(ROOT).as_posix(): faults(path.read_text("utf-8")) for path in paths}
    assert [f"{path}:{fault}" for path, all in found.items() for fault in all] == []


@pytest.mark.parametrize(
    "text",
    [
        "Nobody tells it.",
        "as a stranger's package",
        "what it stands on",
        "ten s of the wall's clock",
        "energy that it makes out of nothing",
        "the file is the whole of it",
        "they come early, which a warning says",
        "changes each and looks what follows",
        "on storage that all see",
        "these count in place of the file",
        "'x' is no number: write 1.0",
        "whatever\nis no pose is refused",
        "What is not as usual is done in Python.",
        "isolated in processes of their own",
        "variables seen besides",
        "what is looked for, and where",
        "all in this very process",
        "the best one is gone on from",
        "from stages that they have anyway",
        "times and rows are not of one number",
        "the shapes lie deep in each other",
        "nothing has come from there for 6 s",
    ],
)
def test_phrases_are_found(text: str) -> None:
    assert len(faults(f"One line.\n{text}\n")) == 1


def test_other_words_are_not_found() -> None:
    assert faults("It understands one wall. A strange standard on a body.") == []
    assert faults("There is no step; there\nis no number; it is no longer here, no room is left.") == []
