"""What the machine code of a function depends on, as a digest.

Everything counts that is reachable from the function, values by their bytes. The digest is the same in every
process: it uses no addresses, no hash() and no names.
"""

from __future__ import annotations

import contextlib
import dis
import enum
import functools
import hashlib
import inspect
import itertools
import marshal
import operator
import os
import struct
import sys
import threading
import types
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cosim_compiler import foreign, tables
from cosim_compiler.calls import BY_NAME, GROUP_AT, INDIRECT, RARE, STATUS, TOGETHER, is_call
from cosim_compiler.convention import compounds
from cosim_compiler.debugging import lines_are_shown
from cosim_compiler.errors import NumberedError
from cosim_compiler.record import Record, classes_in, functions_of, layout_digest, methods_of, rows_of

REPLACED: tuple[Any, ...] = (
    foreign.call_with_array,
    foreign.call_with_interval,
    *foreign.ARRAYS_AT,
    rows_of,
    tables.as_table,
    tables.zeros,
)
"""The compiler puts something else in their place: what they say in Python does not count."""
ATTRIBUTES = (BY_NAME, RARE)
"""Marks of a function that change how it is compiled."""
LIBRARIES = sys.stdlib_module_names | {"numpy", "llvmlite"}
"""What these contain follows from their versions."""
HAS_DOCSTRING = 0x4000000
"""The flag of a code object, from Python 3.14 on."""
FIRST_CONSTANT = {(dis.opmap[name], 0) for name in ("LOAD_CONST", "RETURN_CONST") if name in dis.opmap}
"""Instructions that use the first constant of a code object."""
COUNTS = ("co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_flags")
NAMES = ("co_names", "co_varnames", "co_freevars", "co_cellvars")
PARTS = operator.attrgetter("__code__", "__dict__", "__defaults__", "__kwdefaults__")
CONTENTS = operator.attrgetter("cell_contents")
PLAIN_MARSHAL = 2
"""The version of `marshal` whose bytes depend on values alone, not on which of them are one object."""

_digests_of_code: dict[int, tuple[types.CodeType, bytes]] = {}
_names_in_code: dict[int, tuple[types.CodeType, tuple[str, ...]]] = {}
_opaque: dict[int, tuple[Any, int]] = {}
_digests: dict[types.FunctionType, tuple[bytes, Names]] = {}
_own_parts: dict[types.FunctionType, tuple[_OwnPart, Names]] = {}
_at_rest = threading.local()
_process = os.urandom(16)


def is_replaced(function: types.FunctionType) -> bool:
    """Whether what a function says in Python does not count, since the compiler knows it."""
    return function in REPLACED or is_call(function)


def reachable_names(code: types.CodeType) -> Iterator[str]:
    """Global and free names that a code object, or one nested in it, mentions."""
    yield from code.co_names
    yield from code.co_freevars
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from reachable_names(constant)


def _names(code: types.CodeType) -> tuple[str, ...]:
    kept_names = _names_in_code.get(id(code))  # the hash of code takes longer than all else here
    if kept_names is None:
        kept_names = _names_in_code[id(code)] = (code, tuple(dict.fromkeys(reachable_names(code))))
    return kept_names[1]


def environment(function: types.FunctionType) -> dict[str, Any]:
    """Values of the global and closure names that the function mentions."""
    values = {}
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    for name in _names(function.__code__):
        if name in cells:
            with contextlib.suppress(ValueError):  # what it stands for is made later
                values[name] = cells[name].cell_contents
        elif name in function.__globals__:
            values[name] = function.__globals__[name]
    return values


def fingerprint(function: types.FunctionType, *more: str) -> str:
    """Hexadecimal digest of bytecode, constants, globals and closures of every function reachable.

    Parameters
    ----------
    function : function
        A plain Python function.
    more : str
        Anything else that the result depends on (signature, options, versions).
    """
    return _joined(_known_digest(function), more)


@functools.cache
def _joined(of: bytes, more: tuple[str, ...]) -> str:
    """The digest of a function alone, and of what else counts, as one."""
    digest = _Digest()
    for text in more:
        digest.feed(text)
    digest.put("of", of)
    return digest.hash.hexdigest()[:32]


@functools.cache
def digest_of_module(module: types.ModuleType) -> str:
    """Of its source: what it makes is kept, and changes with it."""
    return hashlib.sha256(Path(str(module.__file__)).read_bytes()).hexdigest()


def _known_digest(function: types.FunctionType) -> bytes:
    """The digest of a function alone; as before where every name in reach still stands for the same thing."""
    kept_digest = _digests.get(function)
    if kept_digest is not None and kept_digest[1].are_as_before():
        return kept_digest[0]
    digest = _Digest()
    digest.root(function)
    function_digest = digest.hash.digest()
    if digest.is_lasting:
        _digests[function] = (function_digest, Names(digest.functions, digest.classes))
    else:
        _digests.pop(function, None)
    return function_digest


@dataclass(frozen=True)
class Reach:
    """What the machine code of some functions depends on.

    Attributes
    ----------
    digest : str
        Of all that they reach, and that the functions in `apart` reach.
    names : Names or None
        While they are as before the digest is, too; None where that is not all that counts.
    apart : tuple of function
        Those in reach that are compiled by themselves.
    """

    digest: str
    names: Names | None
    apart: tuple[types.FunctionType, ...]


def reach_of(
    functions: Iterable[tuple[types.FunctionType, str]],
    methods: Iterable[types.FunctionType],
    classes: Iterable[type],
) -> Reach:
    """What functions with their signatures reach; each function is read once, however many reach it.

    Parameters
    ----------
    functions : iterable of (function, str)
    methods : iterable of function
        Of what is passed to them.
    classes : iterable of type
        What is passed: their attributes count.
    """
    digest = _Digest()
    for function, signature in functions:
        digest.root(function)
        digest.feed(signature)
    for method in methods:
        digest.root(method)
    for function in digest.apart:  # which becomes longer here
        digest.root(function)
    names = Names(digest.functions, [*digest.classes, *classes]) if digest.is_lasting else None
    return Reach(digest.hash.hexdigest()[:32], names, tuple(digest.apart))


class Names:
    """What the names of some functions stand for, and the attributes of classes that they reach.

    Compared each time that a Simulator is made.
    """

    def __init__(self, functions: Iterable[types.FunctionType], classes: Iterable[type] = ()) -> None:
        self.functions = tuple(functions)
        self.classes = tuple(dict.fromkeys(classes))
        bases = dict.fromkeys(base for cls in self.classes for base in cls.__mro__)
        self._attributes = [vars(base) for base in bases if base not in (tuple, *Record.__mro__)]
        self._cells = [cell for function in self.functions for cell in function.__closure__ or ()]
        named: dict[int, tuple[dict[str, Any], dict[str, None]]] = {}
        for function in self.functions:  # those of a module share its names: each is looked up once
            spaces = [function.__globals__]
            for space in spaces:
                _, names = named.setdefault(id(space), (space, {}))
                names.update(dict.fromkeys(_names(function.__code__)))
                spaces += _modules_named(function, space, spaces)
        self._globals, self._absent = [], []
        for globals_, names in named.values():
            present = [name for name in names if name in globals_]
            self._absent.append((globals_.keys(), [name for name in names if name not in globals_]))
            if present:
                self._globals.append((_values_getter(present), globals_))
        self._distinct = [
            (_values_getter(distinct), space)
            for space, names in (
                *named.values(),
                *((space, dict.fromkeys(space)) for space in self._attributes),
            )
            if (distinct := [name for name in names if name in space and _has_twins(space[name])])
        ]
        self._with_defaults = [f for f in self.functions if f.__defaults__ or f.__kwdefaults__]
        self._equal = [
            [(code, dict(marks), *defaults) for code, marks, *defaults in map(PARTS, self.functions)],
            *self._named_objects(),
        ]
        self._identical = list(self._identical_objects())

    def _named_objects(self) -> Iterator[Any]:
        """What all names stand for."""
        for values_of, globals_ in self._globals:
            yield values_of(globals_)
        for attributes in self._attributes:
            yield [*attributes.values()]

    def _identical_objects(self) -> Iterator[Any]:
        """Objects of which an equal one may be another: numbers, and what has some inside."""
        return itertools.chain(
            *(values_of(space) for values_of, space in self._distinct),
            *(PARTS(function)[2:] for function in self._with_defaults),
            map(CONTENTS, self._cells),  # with another code there are other names
        )

    def are_as_before(self) -> bool:
        """Whether all names stand for the same objects."""
        if not all(names.isdisjoint(absent) for names, absent in self._absent):
            return False
        try:
            return [[*map(PARTS, self.functions)], *self._named_objects()] == self._equal and all(
                map(operator.is_, self._identical_objects(), self._identical)
            )
        except (KeyError, ValueError):  # a name is gone, or stands for something that is not compared
            return False


def _has_twins(value: Any) -> bool:
    """Whether something else may be equal to this: 1.0 to 1, (0.0,) to (-0.0,)."""
    kind: Any = type(value)
    return kind.__eq__ is not object.__eq__ and not isinstance(value, (str, types.CodeType))


def _values_getter(names: list[str]) -> operator.itemgetter[Any]:
    """Reads the values of names; of two at least, so that it gives a tuple."""
    return operator.itemgetter(*names, names[0])


def _modules_named(
    function: types.FunctionType, space: dict[str, Any], spaces: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """The names in modules of ours that a function mentions, where it may look up what it mentions, too."""
    is_own_space = space is function.__globals__
    values = environment(function).values() if is_own_space else map(space.get, _names(function.__code__))
    modules = [m for m in values if isinstance(m, types.ModuleType) and not _is_library(m.__name__)]
    return [vars(m) for m in dict.fromkeys(modules) if not any(vars(m) is space for space in spaces)]


def _code_digest(code: types.CodeType) -> bytes:
    """Digest of bytecode, names and constants, those of nested code too.

    Lines and files count where machine code knows them.
    """
    kept_digest = _digests_of_code.get(id(code))
    if kept_digest is None:
        digest = _Digest()
        # in one call of C; of nested code its digest, since marshal would add files and lines
        constants = [_code_digest(c) if isinstance(c, types.CodeType) else c for c in _constants(code)]
        nested = [i for i, c in enumerate(code.co_consts) if isinstance(c, types.CodeType)]
        counted = [getattr(code, name) for name in (*COUNTS, *NAMES)]
        content = code.co_code, code.co_exceptiontable, counted, nested
        digest.put("code", marshal.dumps(content, PLAIN_MARSHAL))
        try:
            digest.put("constants", marshal.dumps(constants, PLAIN_MARSHAL))
        except ValueError:  # a slice, from Python 3.14 on
            digest.feed(constants)
        if lines_are_shown() and code.co_filename.endswith(".py"):
            digest.put("lines", f"{code.co_filename}:{code.co_firstlineno}:".encode() + code.co_linetable)
        kept_digest = _digests_of_code[id(code)] = (code, digest.hash.digest())
    return kept_digest[1]


def _constants(code: types.CodeType) -> tuple[Any, ...]:
    """The constants of a function, its docstring left out: that changes nothing."""
    has_docstring = bool(code.co_flags & HAS_DOCSTRING)
    if sys.version_info < (3, 14):
        is_function = bool(code.co_flags & inspect.CO_OPTIMIZED) and not code.co_name.startswith("<")
        has_docstring = is_function and isinstance(next(iter(code.co_consts), None), str)
    instructions = zip(code.co_code[::2], code.co_code[1::2], strict=True)
    if not has_docstring or not FIRST_CONSTANT.isdisjoint(instructions):  # the same text is used, too
        return code.co_consts
    return (None, *code.co_consts[1:])


class _Digest:
    """Takes values one after the other, each piece with its kind and its length: none runs into the next.

    A function that comes a second time is fed as its number. A container is fed anew wherever it stands
    (whether equal constants are one object depends on how code was loaded), but for one that holds itself.
    """

    def __init__(self, numbers: dict[types.FunctionType, int] | None = None) -> None:
        self._pieces: list[bytes] = []
        self._numbers = {} if numbers is None else numbers
        self.functions: list[types.FunctionType] = []
        self.apart: list[types.FunctionType] = []  # those that are compiled by themselves
        self._fed: set[types.FunctionType] = set()
        self.classes: list[type] = []  # records, named tuples and failures, whose attributes count
        self.is_lasting = True  # nothing in reach can change while all names stand for the same objects
        self._around: list[int] = []

    @property
    def hash(self) -> Any:
        """Of all that was taken so far, at once: thousands of pieces have a few bytes each."""
        return hashlib.sha256(b"".join(self._pieces))

    def put(self, kind: str, data: bytes = b"") -> None:
        self._pieces += (f"{kind} {len(data)}:".encode(), data)

    def feed(self, value: Any, mentioned: Iterable[str] = ()) -> None:
        """Feed any value; of a module or class the attributes of the `mentioned` names."""
        scalar = _scalar_bytes(value)
        if scalar is not None:
            self.put(type(value).__name__, scalar)
        elif isinstance(value, types.FunctionType):
            self._function(value)
        elif isinstance(value, types.CodeType):
            self.put("digest", _code_digest(value))
        elif id(value) in self._around:
            self.put("around", str(self._around.index(id(value))).encode())
        else:
            self._around.append(id(value))
            try:
                self._compound(value, mentioned)
            finally:
                self._around.pop()

    def root(self, function: types.FunctionType) -> None:
        """Feed a function with all that it reaches, also one that is compiled by itself."""
        number = self._numbers.setdefault(function, len(self._numbers))
        self.put("root", str(number).encode())
        if function not in self._fed:
            self._content(function)

    def _function(self, function: types.FunctionType) -> None:
        number = self._numbers.get(function)
        if number is not None:
            self.put("again", str(number).encode())
            return
        self._numbers[function] = len(self._numbers)
        if TOGETHER in function.__dict__:
            # it is compiled by itself: what it does is not in its callers
            self._named("apart", function)
            self.feed(function.__dict__[TOGETHER][1])
            self.apart.append(function)
        else:
            self._content(function)

    def _content(self, function: types.FunctionType) -> None:
        """Feed what a function says, and the functions that it names."""
        self._fed.add(function)
        if is_replaced(function):
            self._named("replaced", function)
            self._all(map(function.__dict__.get, (INDIRECT, STATUS)))
        elif GROUP_AT in function.__dict__:
            self._named("group", function)
            self.feed(compounds[function.__dict__[GROUP_AT]])
        elif _is_library(function.__globals__.get("__name__")):
            self._named("library", function)
        else:
            self.functions.append(function)
            own_part = _own_part(function)
            if own_part is None:
                self._whole(function)
            else:
                self.put("function", own_part.digest)
                self.classes += own_part.classes
                for called in own_part.functions:
                    self._function(called)
                self.put("end")

    def _whole(self, function: types.FunctionType) -> None:
        """Feed what a function is made of."""
        self.put("function", _code_digest(function.__code__))
        marks = {name: function.__dict__.get(name) for name in ATTRIBUTES}
        self.feed((function.__defaults__, function.__kwdefaults__, tuple(marks.items())))
        names = _names(function.__code__)
        for name, value in environment(function).items():
            self.put("name", name.encode())
            self.feed(value, names)
        self.put("end")

    def _compound(self, value: Any, mentioned: Iterable[str]) -> None:
        kind = type(value)
        self.is_lasting = self.is_lasting and _keeps_its_value(value)
        if isinstance(value, np.ndarray):
            self._array(value)
        elif isinstance(value, tuple):
            self.put("tuple", str(len(value)).encode())
            if kind is not tuple:
                self.feed(kind)
            self._all(value)
        elif kind in (list, dict, set, frozenset):
            self.put(kind.__name__, str(len(value)).encode())
            if kind is dict:
                self._all(itertools.chain.from_iterable(value.items()))
            elif kind is list:
                self._all(value)
            else:
                for part in sorted(self._apart(member) for member in value):
                    self.put("member", part)
        elif isinstance(value, types.ModuleType):
            self.put("module", value.__name__.encode())
            if not _is_library(value.__name__):
                self._attributes([value], mentioned)
        elif isinstance(value, type):
            self._class(value, mentioned)
        elif isinstance(value, enum.Enum):
            self._named("enum", kind)
            self._all((value.name, value.value))
        elif isinstance(value, types.BuiltinFunctionType):
            self._named("builtin", value)
            if not isinstance(value.__self__, types.ModuleType):
                self.feed(value.__self__)
        elif isinstance(value, (staticmethod, classmethod)):
            self.put(kind.__name__)
            self.feed(value.__func__)
        elif isinstance(getattr(value, "py_func", None), types.FunctionType):
            self._named("compiled", kind)
            self._all((value.py_func, dict(getattr(value, "targetoptions", {}))))
        else:
            self._object(value)

    def _all(self, values: Iterable[Any]) -> None:
        for value in values:
            self.feed(value)

    def _apart(self, value: Any) -> bytes:
        """The digest of a value alone, which knows of the functions and containers around it."""
        digest = _Digest(dict(self._numbers))
        digest._around = list(self._around)
        digest.feed(value)
        self.functions += digest.functions
        self.apart += digest.apart
        self.classes += digest.classes
        self.is_lasting = self.is_lasting and digest.is_lasting
        return digest.hash.digest()

    def _array(self, array: np.ndarray[Any, Any]) -> None:
        layout = (array.flags.c_contiguous, array.flags.f_contiguous, array.flags.writeable)
        self.put("array", str(array.dtype).encode())
        self._all((array.dtype.str, array.shape, layout))
        if type(array) is not np.ndarray:
            self.feed(type(array))
        if array.dtype.hasobject:
            self.feed(array.tolist())
        else:
            self.put("numbers", array.tobytes())

    def _class(self, cls: type, mentioned: Iterable[str]) -> None:
        self._named("class", cls)
        if issubclass(cls, enum.Enum):
            for name, member in cls.__members__.items():
                self._all((name, member.value))
        elif issubclass(cls, tuple) and hasattr(cls, "_fields"):
            self.classes.append(cls)
            defaults = getattr(cls, "_field_defaults", {})
            self._all((cls._fields, tuple(defaults.items()), *functions_of(cls)))
        elif issubclass(cls, Record):
            self.classes += classes_in(cls)
            self.feed(layout_digest(cls))
            self._all(methods_of(cls))
        elif not _is_library(cls.__module__):
            if issubclass(cls, NumberedError):
                self.classes.append(cls)
            self._attributes([c for c in cls.__mro__ if not _is_library(c.__module__)], mentioned)

    def _attributes(self, owners: Iterable[Any], mentioned: Iterable[str]) -> None:
        for name in mentioned:
            owner = next((owner for owner in owners if name in vars(owner)), None)
            if owner is not None:
                self.put("attribute", name.encode())
                self.feed(vars(owner)[name], mentioned)

    def _named(self, kind: str, value: Any) -> None:
        self.put(kind, f"{value.__module__}.{value.__qualname__}".encode())

    def _object(self, value: Any) -> None:
        """Feed any other object by what makes it again, or as new in each process where nothing does."""
        try:
            recipe = value.__reduce_ex__(4)
            if isinstance(recipe, str):
                recipe = (recipe, getattr(value, "__module__", None), getattr(value, "__wrapped__", None))
            else:
                recipe = tuple(list(part) if isinstance(part, Iterator) else part for part in recipe)
            self.put("object", self._apart(recipe))
        except Exception:
            number = _opaque.setdefault(id(value), (value, len(_opaque)))[1]
            self.put("opaque", _process + f"{os.getpid()} {number}".encode())


@dataclass(frozen=True)
class _OwnPart:
    """What a function is made of, but for the functions that it names; they are listed in order."""

    digest: bytes
    functions: tuple[types.FunctionType, ...]
    classes: tuple[type, ...]


class _OwnDigest(_Digest):
    """Takes what one function is made of; others are put down as their number in a list."""

    is_whole = True  # no function stands where its place in the list depends on an order that may change

    def _function(self, function: types.FunctionType) -> None:
        self.put("calls", str(len(self.functions)).encode())
        self.functions.append(function)

    def _apart(self, value: Any) -> bytes:
        digest = _OwnDigest()
        digest._around = list(self._around)
        digest.feed(value)
        self.classes += digest.classes
        self.is_whole = self.is_whole and digest.is_whole and not digest.functions
        self.is_lasting = self.is_lasting and digest.is_lasting
        return digest.hash.digest()


@contextlib.contextmanager
def names_at_rest() -> Iterator[None]:
    """While no name changes: what each function is made of is found once, and not compared again."""
    around = vars(_at_rest).copy()
    _at_rest.parts, _at_rest.memory = {}, {}
    try:
        yield
    finally:
        vars(_at_rest).clear()
        vars(_at_rest).update(around)


def memory_at_rest() -> dict[Any, Any]:
    """A memory for what follows from names, empty again when they may change: at once, unless at rest."""
    memory: dict[Any, Any] = getattr(_at_rest, "memory", {})
    return memory


def _own_part(function: types.FunctionType) -> _OwnPart | None:
    """The part of a function that lasts while its names stand for the same objects; None where none does."""
    parts: dict[types.FunctionType, _OwnPart | None] | None = getattr(_at_rest, "parts", None)
    if parts is None:
        return _compared_part(function)
    if function not in parts:
        parts[function] = _part_of(_whole_of(function))
    return parts[function]


def _whole_of(function: types.FunctionType) -> _OwnDigest:
    digest = _OwnDigest()
    digest._whole(function)
    return digest


def _part_of(digest: _OwnDigest) -> _OwnPart | None:
    if not (digest.is_whole and digest.is_lasting):
        return None
    return _OwnPart(digest.hash.digest(), tuple(digest.functions), tuple(digest.classes))


def _compared_part(function: types.FunctionType) -> _OwnPart | None:
    """The same as before where the names stand for the same objects."""
    kept_part = _own_parts.get(function)
    if kept_part is not None and kept_part[1].are_as_before():
        return kept_part[0]
    digest = _whole_of(function)
    part = _part_of(digest)
    if part is None:
        _own_parts.pop(function, None)
    else:
        _own_parts[function] = part, Names([function], digest.classes)
    return part


def _keeps_its_value(value: Any) -> bool:
    """Whether an object stays what it is: members of tuples and modules are checked one by one."""
    if isinstance(value, type):
        return issubclass(value, (enum.Enum, tuple, Record, NumberedError)) or _is_library(value.__module__)
    return isinstance(value, (tuple, frozenset, types.ModuleType, types.BuiltinFunctionType, enum.Enum))


def _scalar_bytes(value: Any) -> bytes | None:
    kind = type(value)
    if value is None or value is Ellipsis:
        return b""
    if kind is float:
        return struct.pack("<d", value)
    if kind is int or kind is bool:
        return str(int(value)).encode()
    if kind is str:
        return bytes(value.encode("utf-8", "surrogatepass"))
    if kind is bytes:
        return bytes(value)
    if kind is complex:
        return struct.pack("<dd", value.real, value.imag)
    if isinstance(value, np.generic) and not value.dtype.hasobject:
        return f"{value.dtype} {value.dtype.str} ".encode() + value.tobytes()
    return None


def _is_library(module: Any) -> bool:
    return isinstance(module, str) and module.partition(".")[0] in LIBRARIES
