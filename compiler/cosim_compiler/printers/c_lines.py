"""Makes the lines of a function in C fewer: values stand where they are read, short blocks in one line.

The writers give many values a line and a name. If only the next line reads such a value, it moves there.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

HELD = re.compile(r"(?P<indent> *)(?P<kind>[\w ]+?\*? ?)(?P<name>(?:value|held)_\d+_*) = (?P<value>.*);")
WORD = re.compile(r"\w+")
MAKES_ORDER_COUNT = re.compile(r"->|\.at\[|\b(?!if|while|return|sizeof)\w+\((?!\*)")
"""Text that reads memory or calls a function: C leaves open whether that happens before a call beside it."""
HARMLESS = re.compile(
    r"\b(least|greatest|least_whole|greatest_whole|from_end|whole|fabs|sqrt|isnan|isinf|isfinite)\("
)
STORE = re.compile(r"( *(?:[\w ]+\*? ?)?\*?\w+(?:->\w+|\.at\[[^\[\]>]*\]|\.\w+)?) = (.*)")
BLOCK = re.compile(r"(?P<indent> *)(?P<word>if|for|while|\} else if) \((?P<condition>.*)\) \{")
OTHERWISE = re.compile(r"(?P<indent> *)\} else \{")
COPY = re.compile(r"(?P<indent> *)(?P<kind>[\w ]+?\*? ?)(?P<name>\w+) = (?P<value>held_\d+_*);")
UNPACKED = re.compile(r"(?P<kind> *(?:double|int64_t|bool) )(?P<name>\w+ = (?P<tuple>\w+)\._\d+);")
BRANCH = re.compile(r"if \((?P<condition>.*)\) (?P<statement>\w+\b.*;)")
LAST_STATUS = re.compile(r"    if \(\((?P<status>\w+) = (?P<call>.*)\) != 0\) return (?P=status);")
SIMPLE = re.compile(
    r"(return|break|continue|goto)\b.*;|(\(void\))?\w+\(.*\);"
    r"|\*?\w+(\(\w*\))?((\.|->)\w+|\[[^\[\]]*\])* = .*;"
)
"""A statement that is neither a declaration nor a block."""
LONGEST = 110


def joined(lines: Sequence[str]) -> list[str]:
    """The lines, in which values that only the next line reads stand there."""
    counts = Counter(word for line in lines for word in WORD.findall(line))
    result: list[str] = []
    for line in reversed(lines):
        match = HELD.fullmatch(line)
        if match is not None and result and counts[match["name"]] == 2:
            together = _together(match["name"], match["value"], result[-1])
            if together is not None:
                result[-1] = together
                continue
        result.append(line)
    return result[::-1]


def named_once(lines: Sequence[str]) -> list[str]:
    """The lines, in which a value that is copied to a name gets this name at once."""
    counts = Counter(word for line in lines for word in WORD.findall(line))
    result = list(lines)
    for i, line in enumerate(lines):
        match = COPY.fullmatch(line)
        if match is None or counts[match["value"]] != 2:
            continue
        begin = f"{match['indent']}{match['kind']}{match['value']} = "
        for j in range(i - 1, -1, -1):
            if result[j].startswith(begin):
                result[j] = result[j].replace(match["value"], match["name"], 1)
                result[i] = ""
            if result[j].startswith(begin) or not result[j].startswith(match["indent"]):
                break
    return [line for line in result if line]


def unpacked(lines: Sequence[str]) -> list[str]:
    """The lines, in which declarations of names for the items of one tuple are one line."""
    result: list[str] = []
    open_declaration = None  # type and tuple of the last line
    for line in lines:
        match = UNPACKED.fullmatch(line)
        is_same = match and open_declaration == (match["kind"], match["tuple"])
        if match and is_same and len(result[-1]) + len(line) <= LONGEST:
            result[-1] = f"{result[-1].removesuffix(';')}, {match['name']};"
        else:
            result.append(line)
        open_declaration = match and (match["kind"], match["tuple"])
    return result


def compact(lines: Sequence[str]) -> list[str]:
    """The lines, in which a block of one statement stands in the line of its condition."""
    result: list[str] = []
    i = 0
    while i < len(lines):
        if_and_else = _short_if_and_else(lines[i : i + 5])
        if if_and_else:
            result += if_and_else
            i += 5
            continue
        block = _short_block(lines[i : i + 3])
        result.append(block or lines[i])
        i += 3 if block else 1
    return result if len(result) == len(lines) else compact(result)


def _short_block(lines: Sequence[str]) -> str:
    """A block of one statement as one line; empty for any other lines."""
    if len(lines) < 3:
        return ""
    statement = lines[1].strip()
    if (match := OTHERWISE.fullmatch(lines[0])) and lines[2] == f"{match['indent']}}}":
        short = f"{lines[0].removesuffix('{')}{statement}"
        return short if SIMPLE.fullmatch(statement) and len(short) <= LONGEST else ""
    if not (match := BLOCK.fullmatch(lines[0])) or lines[2] != f"{match['indent']}}}":
        return ""
    head = lines[0].removesuffix(" {")
    inner = BRANCH.fullmatch(statement)
    if inner is not None and match["word"] != "for" and match["word"] != "while":
        both = " && ".join(_operand_of_and(text) for text in (match["condition"], inner["condition"]))
        head, statement = f"{match['indent']}{match['word']} ({both})", inner["statement"]
    short = f"{head} {statement}"
    return short if SIMPLE.fullmatch(statement) and len(short) <= LONGEST else ""


def _operand_of_and(condition: str) -> str:
    """A condition as an operand of ``&&``."""
    return f"({condition})" if "||" in condition or "?" in condition else condition


def _short_if_and_else(lines: Sequence[str]) -> list[str]:
    """``if`` and ``else`` of one statement each as two lines; empty for any other lines."""
    if len(lines) < 5 or not (match := BLOCK.fullmatch(lines[0])) or not lines[0].lstrip().startswith("if "):
        return []
    indent = match["indent"]
    if lines[2] != f"{indent}}} else {{" or lines[4] != f"{indent}}}":
        return []
    yes, no = lines[1].strip(), lines[3].strip()
    two = [f"{lines[0].removesuffix(' {')} {yes}", f"{indent}else {no}"]
    is_simple = SIMPLE.fullmatch(yes) and SIMPLE.fullmatch(no) and max(map(len, two)) <= LONGEST
    return two if is_simple else []


def with_last_status(lines: Sequence[str]) -> list[str]:
    """The lines of a function, which returns the status of a call that is its last statement."""
    match = LAST_STATUS.fullmatch(lines[-2]) if len(lines) > 1 and lines[-1] == "    return 0;" else None
    return [*lines[:-2], f"    return {match['call']};"] if match else list(lines)


def shortened(before: Sequence[str], text: str) -> tuple[list[str], str]:
    """The lines that stand before an expression, and its text, after `joined`."""
    *lines, last = joined([*before, f"return {text};"])
    return lines, last.removeprefix("return ").removesuffix(";")


def _together(name: str, value: str, line: str) -> str | None:
    """A line with a value in place of its name; None if C might compute something else first."""
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
