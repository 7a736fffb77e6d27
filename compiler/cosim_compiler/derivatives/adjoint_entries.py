"""The functions through which callers outside the text of an adjoint call it.

The functions in the text return tuples, which no signature of letters can express. The entries write the
items into views: the tangent of the result into `rate`, the adjoints of real arguments into `bars`.
"""

from __future__ import annotations

from collections.abc import Sequence

from cosim_compiler.derivatives.reverse_parts import AdjointNames
from cosim_compiler.language.types import REAL, View, types_of


class AdjointEntry:
    """The arguments of a function whose adjoint is called from outside the text.

    Attributes
    ----------
    letters, answer : str
        The two sides of its signature.
    varying, views, reals : list of int
        Numbers of the arguments that vary; of the views among them, and of the reals.
    has_rate : bool
        Whether its result is a real, which has a tangent and an adjoint.
    rate_varies : bool
        Whether this tangent is not always 0.
    """

    def __init__(self, signature: str, varying: Sequence[bool], rate_varies: bool) -> None:
        self.letters, self.answer = signature.split(">")
        kinds, result = types_of(signature)
        self.varying = [i for i, varies in enumerate(varying) if varies]
        self.views = [i for i in self.varying if isinstance(kinds[i], View)]
        self.reals = [i for i in self.varying if kinds[i] is REAL]
        self.has_rate = result is REAL
        self.rate_varies = self.has_rate and rate_varies


def write_record_entry(entry: AdjointEntry, helpers: AdjointNames) -> list[str]:
    """The lines of the function that records, for callers outside the text."""
    passed = [f"x{i}" for i in range(len(entry.letters))]
    passed += [f"x{i}_dot" for i in entry.varying] + [f"x{i}_at" for i in entry.views]
    parameters = [*passed, "tape", *(["rate"] if entry.has_rate else [])]
    call = f"{helpers.record}({', '.join(passed + ([] if helpers.is_silent else ['tape']))})"
    if entry.rate_varies:
        lines = [f"value, value_dot = {call}", "rate[0] = value_dot", "return value"]
    elif entry.answer == "v":
        lines = [call]
    else:
        lines = [f"value = {call}", *(["rate[0] = 0.0"] if entry.has_rate else []), "return value"]
    return [f"def record({', '.join(parameters)}):", *(f"    {line}" for line in lines)]


def write_reverse_entry(entry: AdjointEntry, helpers: AdjointNames) -> list[str]:
    """The lines of the function that goes back, for callers outside the text."""
    roots = [f"root{i}" for i in entry.views]
    passed = [*roots, *(["value_bar"] if entry.rate_varies else []), "tape"]
    parameters = [*roots, *(["value_bar"] if entry.has_rate else []), "tape"]
    parameters += ["bars"] if entry.reals else []
    lines = [] if helpers.is_silent else [f"{helpers.reverse}({', '.join(passed)})"]
    if entry.reals and not helpers.is_silent:
        names = [f"bar_{i}" for i in entry.reals]
        lines = [f"{', '.join(names)} = {lines[0]}"]
        lines += [f"bars[{k}] = {name}" for k, name in enumerate(names)]
    elif entry.reals:
        lines = [f"bars[{k}] = 0.0" for k in range(len(entry.reals))]
    return [f"def reverse({', '.join(parameters)}):", *(f"    {line}" for line in lines or ["pass"])]


def entry_signatures(entry: AdjointEntry) -> tuple[str, str]:
    """The signatures of the two functions that `write_record_entry` and `write_reverse_entry` write."""
    record = entry.letters + "".join(entry.letters[i] for i in entry.varying)
    record += "i" * len(entry.views) + "F" + "F" * entry.has_rate
    reverse = "F" * len(entry.views) + "f" * entry.has_rate + "F" + "F" * bool(entry.reals)
    return f"{record}>{entry.answer}", f"{reverse}>v"
