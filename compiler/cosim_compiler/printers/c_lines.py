"""Lines of C that are one: a value that only the next line reads stands there."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

HELD = re.compile(r"(?P<indent> *)(?P<kind>[\w ]+?\*? ?)(?P<name>(?:value|held)_\d+_*) = (?P<value>.*);")
WORD = re.compile(r"\w+")
MAKES_ORDER_COUNT = re.compile(r"->|\.at\[|\b(?!if|while|return|sizeof)\w+\((?!\*)")
"""What reads memory or calls something: C leaves open whether it comes before a call beside it."""
HARMLESS = re.compile(
    r"\b(least|greatest|least_whole|greatest_whole|from_end|whole|fabs|sqrt|isnan|isinf|isfinite)\("
)
STORE = re.compile(r"( *(?:[\w ]+\*? ?)?\*?\w+(?:->\w+|\.at\[[^\[\]>]*\]|\.\w+)?) = (.*)")
BLOCK = re.compile(r"(?P<indent> *)(if|for|while) \(.*\) \{")
SIMPLE = re.compile(
    r"(return|break|continue|goto)\b.*;|(\(void\))?\w+\(.*\);"
    r"|\*?\w+(\(\w*\))?((\.|->)\w+|\[[^\[\]]*\])* = .*;"
)
"""A statement that is no declaration and no block."""
LONGEST = 110


def joined(lines: Sequence[str]) -> list[str]:
    """The lines with values put where they are read, once and next."""
    counts = Counter(word for line in lines for word in WORD.findall(line))
    kept: list[str] = []
    for line in reversed(lines):
        match = HELD.fullmatch(line)
        if match is not None and kept and counts[match["name"]] == 2:
            together = _together(match["name"], match["value"], kept[-1])
            if together is not None:
                kept[-1] = together
                continue
        kept.append(line)
    return kept[::-1]


def compact(lines: Sequence[str]) -> list[str]:
    """The lines with blocks of one statement in the line of their condition."""
    kept: list[str] = []
    i = 0
    while i < len(lines):
        two = _two_ways(lines[i : i + 5])
        if two:
            kept += two
            i += 5
            continue
        head, *following = lines[i : i + 3]
        if (
            len(following) == 2
            and (match := BLOCK.fullmatch(head))
            and following[1] == f"{match['indent']}}}"
        ):
            statement = following[0].strip()
            short = f"{head.removesuffix(' {')} {statement}"
            if SIMPLE.fullmatch(statement) and len(short) <= LONGEST:
                kept.append(short)
                i += 3
                continue
        kept.append(head)
        i += 1
    return kept


def _two_ways(lines: Sequence[str]) -> list[str]:
    """``if`` and ``else`` of one statement each, in two lines; nothing where they are more."""
    if len(lines) < 5 or not (match := BLOCK.fullmatch(lines[0])) or not lines[0].lstrip().startswith("if "):
        return []
    indent = match["indent"]
    if lines[2] != f"{indent}}} else {{" or lines[4] != f"{indent}}}":
        return []
    yes, no = lines[1].strip(), lines[3].strip()
    two = [f"{lines[0].removesuffix(' {')} {yes}", f"{indent}else {no}"]
    is_simple = SIMPLE.fullmatch(yes) and SIMPLE.fullmatch(no) and max(map(len, two)) <= LONGEST
    return two if is_simple else []


def shortened(before: Sequence[str], text: str) -> tuple[list[str], str]:
    """The lines that have to stand before an expression, and its text; values stand where they are read."""
    *lines, last = joined([*before, f"return {text};"])
    return lines, last.removeprefix("return ").removesuffix(";")


def _together(name: str, value: str, line: str) -> str | None:
    """A line with a value in place of its name; None where C might compute something else first."""
    if not re.search(rf"\b{name}\b", line) or line.lstrip().startswith(("for ", "while ", "goto ", "}")):
        return None
    store = STORE.fullmatch(line)
    rest = line if store is None else store[2]
    others = HARMLESS.sub("(", re.sub(rf"\b{name}\b", "", rest))
    if name not in rest or MAKES_ORDER_COUNT.search(others) or "&&" in rest or "||" in rest or "?" in rest:
        return None
    is_whole = rest.strip().rstrip(";") == name or rest.strip() in (f"if ({name}) {{", f"return {name};")
    if "?" in value and not value.startswith("(") and not is_whole:
        return None
    is_call = re.fullmatch(r"\w+\(.*\)", value) is not None and value.count("(") == 1
    text = value if is_whole or is_call or WORD.fullmatch(value) else f"({value})"
    new_rest = re.sub(rf"\b{name}\b", lambda _: text, rest)
    new = new_rest if store is None else f"{store[1]} = {new_rest}"
    return new if len(new) <= LONGEST else None
