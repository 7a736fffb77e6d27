"""What the compiler refuses, in a sentence of the author's words: type, line, what to do.

The rules for kernel functions (`cosim_compiler.sources.kernel_rules`) find most faults before; what is left
follows from types that only the compiler knows. Its own words stay behind the error, as its cause.
"""

from __future__ import annotations

import re
import types
from collections.abc import Callable
from typing import Any

from cosim_compiler.errors import ContractError

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
PLACE = re.compile(r'(?:^| at |File ")(?P<file>[^"\n]+?\.\w+|<[^>\n]+>)(?:", line |\s\()(?P<line>\d+)')
CALL = re.compile(r">>> (?P<function>\w+)\((?P<types>.*)\)$", re.MULTILINE)
OPERATORS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "neg": "-", "pos": "+",
    "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=", "iadd": "+=", "isub": "-=",
    "imul": "*=", "itruediv": "/=",
}  # fmt: skip
ELEMENTS = "compute with its elements, one by one: for i in range(3): x[i] = …"


def explained(error: Exception, function: types.FunctionType, reached: set[str]) -> ContractError:
    """The error of the compiler for a function, said shortly.

    Parameters
    ----------
    error : Exception
        What numba raised.
    function : function
        That is compiled, or the adapter around one.
    reached : set of str
        Files of the functions that it reaches: the fault is in one of them.
    """
    text = COLOUR.sub("", str(error))
    place = _place(error, text, reached)
    name = function.__qualname__.removesuffix(".block")
    kind = type(error).__name__
    return ContractError(f"{place or name}: cannot be compiled: {_sentence(text)} ({kind})")


def _place(error: Exception, text: str, reached: set[str]) -> str:
    """File and line of the innermost function of an author."""
    own = {file.rpartition("/")[2]: file for file in reached if not file.startswith("<adapter")}
    for found in PLACE.finditer(text):
        file = own.get(found["file"].rpartition("/")[2])
        if file is not None:
            return f"{file}:{found['line']}"
    place: Any = getattr(error, "loc", None)
    return f"{place.filename}:{place.line}" if place is not None and place.filename in reached else ""


def _sentence(text: str) -> str:
    """What is wrong and what to do."""
    if "NRT required" in text:
        return f"this makes an array, and compiled code does not allocate: {ELEMENTS}"
    unify = re.search(r"Cannot unify (.+?) and (.+?) for '([\w.$]+)'", text)
    if unify:
        name = unify[3].partition(".")[0].lstrip("$") or "a value"
        return (
            f"'{name}' is {_words(unify[1])} in one branch and {_words(unify[2])} in another: "
            "make it the same in all"
        )
    binding = re.search(r"to signature '(\(.*?\))' due to \"TypeError: (.+?)\"", text)
    if binding:
        return f"a helper with the arguments {binding[1]} is called with others: {binding[2]}"
    length = re.search(r"wrong tuple length.*?expected (\d+), got (\d+)", text)
    if length:
        return f"{length[1]} names are given the elements of a tuple of {length[2]}"
    unknown = re.search(r"Unknown attribute '(\w+)' (?:of|for) type (.+)", text)
    if unknown:
        return f"{_words(unknown[2])} has no '{unknown[1]}'"
    call = CALL.search(text)
    if call:
        return _of_call(call["function"], _split(call["types"]))
    return _first_line(text)


def _of_call(function: str, given: list[str]) -> str:
    """A function or operator that does not take what it is given."""
    words = [_words(kind) for kind in given]
    if function in ("getitem", "static_getitem") and len(given) == 2:
        if given[0].startswith("Tuple"):
            return "a tuple of different kinds has elements at fixed places alone: make them all 1.0, not 1"
        if given[0].startswith(("float", "int", "bool")):
            return f"[…] is asked of {words[0]}, which has no elements"
        return f"the place [{words[1]}] is no whole number: write int(…)"
    if function in ("setitem", "static_setitem") and len(given) == 3:
        if "uple" in given[0]:
            return "the elements of a tuple cannot be changed: make another one, (x, y, z)"
        remedy = "write its elements one by one" if "uple" in given[2] else "needs a number"
        return f"an element is set to {words[2]}: {remedy}"
    if function in OPERATORS:
        return f"`{OPERATORS[function]}` does not take {' and '.join(words)}: compute with their elements"
    return f"{function}() does not take {', '.join(words) or 'nothing'}"


def _words(kind: str) -> str:
    """A type of the compiler, as authors call it."""
    kind = kind.strip()
    exact: dict[str, Callable[[re.Match[str]], str]] = {
        r"Literal\[(\w+)\]\(.*\)": lambda m: _words(m[1]),
        r"(float\d*|Float)": lambda m: "a number",
        r"(int\d*|uint\d*)": lambda m: "a whole number",
        r"bool(ean)?": lambda m: "true or false",
        r"(none|omitted.*|NoneType)": lambda m: "nothing",
        r"(unicode_type|str)": lambda m: "text",
        r"UniTuple\(\w+ x (\d+)\)": lambda m: f"a tuple of {m[1]} numbers",
        r"Tuple\((.*)\)": lambda m: f"a tuple of {', '.join(map(_words, _split(m[1])))}",
        r"(readonly )?array\(.*\)": lambda m: "a view",
        r"slice.*": lambda m: "a range of places",
    }
    for pattern, words in exact.items():
        found = re.fullmatch(pattern, kind)
        if found:
            return words(found)
    return kind


def _split(text: str) -> list[str]:
    """What stands between the commas that are in no bracket."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def _first_line(text: str) -> str:
    """The first line that says something."""
    for line in text.splitlines():
        if line.strip() and not line.startswith("Failed in"):
            return line.strip(" .")
    return "the compiler does not say why"
