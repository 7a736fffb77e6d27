"""Phrases that texts, docstrings, comments and messages must not contain, with what to write instead."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("benchmarks", "compiler", "cosim", "docs", "examples", "fmu", "plugins", "release")
PHRASES = {
    r"(?:somebody|nobody|everybody|anybody)\b": "say who or what it is, or use the passive",
    r"strangers?\b": "a third party",
    r"stands? on\b": "is on, is set to, belongs to",
    r"such an? one\b": "name it again",
    r"wall's clock\b": "wall-clock time",
    r"out of nothing\b": "name what creates it",
    r"the whole of it\b": "name the thing: is the complete …",
    r"which (?:a warning says|is said)\b": "with a warning; a message names …",
    r"looks? what\b": "checks which",
    r"that all see\b": "that all read, shared",
    r"counts? in place of\b": "overrides",
    r"is no (?<!here\sis no )(?!longer|more|further|later|less|such|good|help|reason|place|noise|power)\w": (
        "is not a …"
    ),
    r"what is not as usual\b": "name the cases",
    r"in processes of their own\b": "in separate processes",
    r"seen besides\b": "further variables",
    r"what is looked for\b": "name it: the parameter, the value",
    r"in this very\b": "in this",
    r"gone on from\b": "the search starts at …",
    r"have anyway\b": "compute in any case",
    r"is an? \w+, no (?!longer|matter|more)\w": "is a …, not a …",
    r"(?:is|are) given besides\b": "must be omitted: the file has the values",
    r"when not given\b": "by default …",
    r"there is no (?:call|answer)\b": "unknown call; the server does not answer",
    r"differences say\b": "differences give",
    r"of something else\b": "name the type: of an unknown type",
    r"a word twice\b": "lists a choice twice",
    r"and why so\b": "and why",
    r"not of one number\b": "the number of … is not the number of …",
    r"lies? deep in\b": "overlap too deeply",
    r"nothing has come from\b": "no data received",
    r"(?:fool-?proof|of course|simply put|needless to say)\b": "leave it out",
}
"""Patterns of phrases that begin at the start of a word.

`faults` checks that itself: a `\\b` at the start of a pattern would make its search ten times as slow.
"""


def texts() -> list[Path]:
    paths = [path for path in ROOT.iterdir() if path.suffix in (".md", ".toml", ".ini", ".yml", ".cff")]
    for folder in FOLDERS:
        paths += [
            p for suffix in ("md", "py", "toml", "c", "h") for p in (ROOT / folder).rglob(f"*.{suffix}")
        ]
    return [path for path in paths if ".peers" not in path.parts]


def faults(text: str) -> list[str]:
    """The forbidden phrases in a text, each with its line and the remedy."""
    lower = text.lower()  # a search that ignores case takes three times as long
    return [
        f"{lower.count(chr(10), 0, match.start()) + 1}: '{match.group()}': {instead}"
        for phrase, instead in PHRASES.items()
        for match in re.finditer(phrase, lower)
        if not re.match(r"\w", lower[match.start() - 1 : match.start()])
    ]


def test_no_text_contains_a_forbidden_phrase() -> None:
    paths = texts()
    assert len(paths) > 500
    faults_of_files = {path.relative_to(ROOT).as_posix(): faults(path.read_text("utf-8")) for path in paths}
    assert [f"{path}:{fault}" for path, all in faults_of_files.items() for fault in all] == []


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
        "loop.toml is a model, no scenario",
        "file is x.csv, and times is given besides",
        "in parallel; 1 when not given",
        "plant: there is no answer",
        "its tangent is 2, and differences say 3",
        "an array of something else",
        "choices=('a', 'a') has a word twice",
        "How it is compiled, and why so",
        "times and rows are not of one number",
        "the shapes lie deep in each other",
        "nothing has come from there for 6 s",
    ],
)
def test_a_forbidden_phrase_is_noticed(text: str) -> None:
    assert len(faults(f"One line.\n{text}\n")) == 1


def test_similar_words_are_allowed() -> None:
    assert faults("It understands one wall. A strange standard on a body.") == []
    assert faults("It withstands on its own; within this very box, outlooks what.") == []
    assert faults("There is no step; there\nis no number; it is no longer here, no room is left.") == []
