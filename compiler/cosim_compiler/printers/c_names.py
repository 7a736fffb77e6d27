"""Names and types in C."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import groupby

from cosim_compiler.language.types import (
    NOTHING,
    REAL,
    TRUTH,
    WHOLE,
    Group,
    Number,
    Record,
    RecordRows,
    Tuple,
    Type,
    View,
)
from cosim_compiler.record import Rows, layout_of

NUMBERS = {REAL: "double", WHOLE: "int64_t", TRUTH: "bool", NOTHING: "void"}
VIEWS = {View(REAL): "reals", View(WHOLE): "integers", View(REAL, 2): "matrix", View(WHOLE, 2): "table"}
ROWS_OF_NUMBERS = {float: "reals", int: "integers"}
LETTERS = {REAL: "r", WHOLE: "i", TRUTH: "b"}
WORDS = """
auto bool break case char const continue default do double else enum extern false float for goto if
inline int long main register restrict return short signed sizeof static struct switch true typedef
union unsigned void volatile while abs acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos
cosh div erf erfc exp exp2 expm1 fabs fdim floor fma fmax fmin fmod frexp gamma hypot ilogb index
isfinite isinf isnan j0 j1 jn labs ldexp lgamma link llabs log log10 log1p log2 logb lrint lround modf
nan nearbyint pow remainder remove remquo rename rint round scalbn signal signbit signgam sin sinh sqrt
system tan tanh tgamma time trunc y0 y1 yn from_end greatest greatest_whole integers least least_whole
matrix part part_of_integers place quotient real_quotient real_rest reals rest result row_of
row_of_matrix shifted_left shifted_right status table whole whole_abs
asm typeof unix linux NAN INFINITY HUGE_VAL HUGE_VALF HUGE_VALL FP_INFINITE FP_NAN FP_NORMAL FP_SUBNORMAL
FP_ZERO MATH_ERRNO MATH_ERREXCEPT int32_t int64_t uint64_t intptr_t INT64_C INT64_MIN INT64_MAX
"""
TAKEN = frozenset(WORDS.split())
"""Names that no name of an author's may have: words of C, names of its library, and those of `c99.HEAD`."""
OF_FILES = ("constant_", "group_", "rows_", "tuple_")
"""Prefixes of the names that a file has besides those of functions and records."""


class CNames:
    """Names in C, by names of the typed form; a name that is in use gets an underscore behind it.

    Parameters
    ----------
    *others : collection of str
        Further names in use; more may be added to them.

    Attributes
    ----------
    taken : set of str
        Names in use.
    """

    def __init__(self, *others: Collection[str]) -> None:
        self._others, self.taken = others, set(TAKEN)
        self._c_names: dict[str, str] = {}

    def __getitem__(self, name: str) -> str:
        if name not in self._c_names:
            c_name = name.replace(".", "_")
            if self._others and c_name.startswith(OF_FILES):
                c_name += "_"
            while c_name in self.taken or any(c_name in names for names in self._others):
                c_name += "_"
            self.taken.add(c_name)
            self._c_names[name] = c_name
        return self._c_names[name]


class Types:
    """Types of C, by types of the language.

    Attributes
    ----------
    structures : dict of str to str
        The declarations of the structures that are needed for tuples, records, rows and groups, by name.
    """

    def __init__(self) -> None:
        self.structures: dict[str, str] = {}
        self._classes: dict[str, type] = {}

    def __getitem__(self, type_: Type) -> str:
        if isinstance(type_, Number):
            return NUMBERS[type_]
        if isinstance(type_, View):
            return VIEWS[type_.of_any_shape]
        if isinstance(type_, Group):
            return f"const {self._group(type_)} *"
        if isinstance(type_, Record):
            return f"{self._record(type_.of)} *"
        if isinstance(type_, RecordRows):
            return self._rows(type_.of)
        return self._tuple(type_)

    def _tuple(self, type_: Tuple) -> str:
        name = f"tuple_{self._letters(type_)}"
        if name not in self.structures:
            members = _members([(self[item], f"_{i}") for i, item in enumerate(type_.items)])
            self.structures[name] = f"typedef struct {{ {members or 'char nothing;'} }} {name};"
        return name

    def _name_of(self, cls: type) -> str:
        """The name of the structure of a class of records; a second class of this name gets a number."""
        name, count = cls.__name__, 1
        while name in TAKEN or self._classes.setdefault(name, cls) is not cls:
            count += 1
            name = f"{cls.__name__}_{count}"
        return name

    def _record(self, cls: type) -> str:
        name = self._name_of(cls)
        if name not in self.structures:
            self.structures[name] = (
                ""  # in use, while the fields are written: they may be rows of this record
            )
            members = []
            for field, _, kind in layout_of(cls):
                if isinstance(kind, Rows):
                    of = ROWS_OF_NUMBERS.get(kind.kind) or self._rows(kind.kind)
                else:
                    of = {float: "double", int: "int64_t"}.get(kind) or self._record(kind)
                members.append((of, field))
            del self.structures[name]
            self.structures[name] = f"typedef struct {name} {{ {_members(members)} }} {name};"
        return name

    def _rows(self, cls: type) -> str:
        record = self._name_of(cls)
        name = f"rows_{record}"
        if name not in self.structures:
            self.structures[name] = f"typedef struct {{ struct {record} *at; int64_t n; }} {name};"
            self._record(cls)
        return name

    def _letters(self, type_: Type) -> str:
        if isinstance(type_, Tuple):
            return f"t{''.join(map(self._letters, type_.items))}e"
        if isinstance(type_, View):
            return {"reals": "R", "integers": "I", "matrix": "M", "table": "T"}[VIEWS[type_.of_any_shape]]
        return LETTERS[type_] if isinstance(type_, Number) else f"G{self._name_of(type_.of)}"

    def _group(self, type_: Group) -> str:
        name = f"group_{type_.of.__name__}"
        if name not in self.structures:
            fields: tuple[str, ...] = type_.of._fields  # type: ignore[attr-defined]
            kinds = {"F": "reals", "I": "integers", "T": "integers"}
            members = _members(
                [(kinds[letter], field) for letter, field in zip(type_.letters, fields, strict=True)]
            )
            self.structures[name] = f"typedef struct {{ {members} }} {name};"
        return name


def _members(typed: Sequence[tuple[str, str]]) -> str:
    """The members of a structure, those of one type together."""
    parts = []
    for kind, alike in groupby(typed, lambda member: member[0]):
        names = [name for _, name in alike]
        parts += [f"{kind} {name};" for name in names] if "*" in kind else [f"{kind} {', '.join(names)};"]
    return " ".join(parts)


def words_of(type_: Type, types: Types) -> list[str]:
    """The C types of the words in which an argument is passed to machine code."""
    if isinstance(type_, View):
        return [f"{NUMBERS[type_.item]} *", *["int64_t"] * type_.axes]
    return [types[type_]]


def real(value: float) -> str:
    """A double as a constant of C, in brackets if it is negative."""
    if value != value:
        return "NAN"
    if value in (float("inf"), -float("inf")):
        return "INFINITY" if value > 0 else "-INFINITY"
    text = repr(value)
    return f"({text})" if text.startswith("-") else text


def whole(value: int) -> str:
    """A 64-bit integer as a constant of C, in brackets if it is negative."""
    if value == -(2**63):
        return "INT64_MIN"
    text = str(value) if abs(value) < 2**31 else f"INT64_C({value})"
    return f"({text})" if value < 0 else text
