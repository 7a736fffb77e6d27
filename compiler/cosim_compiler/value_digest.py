"""The bytes of values, as a digest that is the same in every process.

It uses no addresses, no hash() and no names of variables. `fingerprint` decides how functions count.
"""

from __future__ import annotations

import enum
import itertools
import os
import struct
import types
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from cosim_compiler.calls import APART, BY_NAME, RARE
from cosim_compiler.code_digest import code_digest
from cosim_compiler.digest_pieces import DigestPieces
from cosim_compiler.errors import NumberedError
from cosim_compiler.names_in_reach import environment, is_library, names_in
from cosim_compiler.record import Record, classes_in, functions_of, layout_digest, methods_of

ATTRIBUTES = (BY_NAME, RARE, APART)
"""Marks of a function that change how it is compiled."""

_opaque: dict[int, tuple[Any, int]] = {}
"""Objects without a recipe by their ids, each with its number; held, so that no other object gets the id."""
_process = os.urandom(16)
"""Different in each process, as such objects are."""


class ValueDigest(DigestPieces, ABC):
    """Digests values one after the other.

    A container counts with its members wherever it stands, since it depends on how code was loaded whether
    equal constants are one object. Only inside itself a container counts as a number.

    Attributes
    ----------
    classes : list of type
        Records, named tuples and exceptions that were met, whose attributes count.
    is_lasting : bool
        Whether nothing that was met can change while all names stand for the same objects.
    """

    def __init__(self) -> None:
        super().__init__()
        self.classes: list[type] = []
        self.is_lasting = True
        self._outer: list[int] = []  # ids of the containers that are being fed, the outermost first

    @abstractmethod
    def feed_function(self, function: types.FunctionType) -> None:
        """Feed a function that a value holds or names."""

    @abstractmethod
    def new_digest(self) -> ValueDigest:
        """An empty digest of the same kind, for a value whose place among others is not settled."""

    def merge(self, other: Any) -> None:
        """Add what another digest has met."""
        self.classes += other.classes
        self.is_lasting = self.is_lasting and other.is_lasting

    def feed(self, value: Any, mentioned: Iterable[str] = ()) -> None:
        """Feed any value; of a module or class the attributes of the `mentioned` names."""
        scalar = _scalar_bytes(value)
        if scalar is not None:
            self.put(type(value).__name__, scalar)
        elif isinstance(value, types.FunctionType):
            self.feed_function(value)
        elif isinstance(value, types.CodeType):
            self.put("digest", code_digest(value))
        elif id(value) in self._outer:
            self.put("around", str(self._outer.index(id(value))).encode())
        else:
            self._outer.append(id(value))
            try:
                self._compound(value, mentioned)
            finally:
                self._outer.pop()

    def feed_whole_function(self, function: types.FunctionType) -> None:
        """Feed what a function is made of; what it names as any value."""
        self.put("function", code_digest(function.__code__))
        marks = [function.__dict__.get(name) for name in ATTRIBUTES]
        particulars = (function.__defaults__, function.__kwdefaults__, *marks)
        if any(value is not None for value in particulars):  # most functions have none
            self.feed(particulars)
        names = names_in(function.__code__)
        for name, value in environment(function).items():
            self.put("name", name.encode())
            self.feed(value, names)
        self.put("end")

    def _compound(self, value: Any, mentioned: Iterable[str]) -> None:
        """Feed a value that is made of others, by its kind."""
        self.is_lasting = self.is_lasting and _keeps_its_value(value)
        kind = type(value)
        if isinstance(value, np.ndarray):
            self._array(value)
        elif isinstance(value, tuple) or kind in (list, dict, set, frozenset):
            self._container(value)
        elif isinstance(value, types.ModuleType):
            self.put("module", value.__name__.encode())
            if not is_library(value.__name__):
                self._attributes([value], mentioned)
        elif isinstance(value, type):
            self._class(value, mentioned)
        elif isinstance(value, enum.Enum):
            self.put_name("enum", kind)
            self.feed_all((value.name, value.value))
        elif isinstance(value, types.BuiltinFunctionType):
            self.put_name("builtin", value)
            if not isinstance(value.__self__, types.ModuleType):
                self.feed(value.__self__)
        elif isinstance(value, (staticmethod, classmethod)):
            self.put(kind.__name__)
            self.feed(value.__func__)
        elif isinstance(getattr(value, "py_func", None), types.FunctionType):
            self.put_name("compiled", kind)
            self.feed_all((value.py_func, dict(getattr(value, "targetoptions", {}))))
        else:
            self._object(value)

    def _container(self, container: Any) -> None:
        """Feed a tuple, list, dictionary or set by its kind, length and members."""
        kind = type(container)
        if isinstance(container, tuple):
            self.put("tuple", str(len(container)).encode())
            if kind is not tuple:
                self.feed(kind)
            self.feed_all(container)
            return
        self.put(kind.__name__, str(len(container)).encode())
        if kind is dict:
            self.feed_all(itertools.chain.from_iterable(container.items()))
        elif kind is list:
            self.feed_all(container)
        else:  # the order of a set depends on addresses
            for member_digest in sorted(self._alone(member) for member in container):
                self.put("member", member_digest)

    def feed_all(self, values: Iterable[Any]) -> None:
        """Feed values one after the other."""
        for value in values:
            self.feed(value)

    def _alone(self, value: Any) -> bytes:
        """The digest of one value by itself."""
        digest = self.new_digest()
        digest._outer = list(self._outer)
        digest.feed(value)
        self.merge(digest)
        return bytes(digest.hash.digest())

    def _array(self, array: np.ndarray[Any, Any]) -> None:
        """Feed an array by its type, shape, layout and content."""
        layout = (array.flags.c_contiguous, array.flags.f_contiguous, array.flags.writeable)
        self.put("array", str(array.dtype).encode())
        self.feed_all((array.dtype.str, array.shape, layout))
        if type(array) is not np.ndarray:
            self.feed(type(array))
        if array.dtype.hasobject:
            self.feed(array.tolist())
        else:
            self.put("numbers", array.tobytes())

    def _class(self, cls: type, mentioned: Iterable[str]) -> None:
        """Feed a class: its members, fields or layout; of any other the attributes that are mentioned."""
        self.put_name("class", cls)
        if issubclass(cls, enum.Enum):
            for name, member in cls.__members__.items():
                self.feed_all((name, member.value))
        elif issubclass(cls, tuple) and hasattr(cls, "_fields"):
            self.classes.append(cls)
            defaults = getattr(cls, "_field_defaults", {})
            self.feed_all((cls._fields, tuple(defaults.items()), *functions_of(cls)))
        elif issubclass(cls, Record):
            self.classes += classes_in(cls)
            self.feed(layout_digest(cls))
            self.feed_all(methods_of(cls))
        elif not is_library(cls.__module__):
            if issubclass(cls, NumberedError):
                self.classes.append(cls)
            self._attributes([c for c in cls.__mro__ if not is_library(c.__module__)], mentioned)

    def _attributes(self, owners: Iterable[Any], mentioned: Iterable[str]) -> None:
        """Feed the mentioned attributes, each of the first owner that has it."""
        for name in mentioned:
            owner = next((owner for owner in owners if name in vars(owner)), None)
            if owner is not None:
                self.put("attribute", name.encode())
                self.feed(vars(owner)[name], mentioned)

    def put_name(self, kind: str, value: Any) -> None:
        """Put a class or function by its name."""
        self.put(kind, f"{value.__module__}.{value.__qualname__}".encode())

    def _object(self, value: Any) -> None:
        """Feed any other object as pickle describes it; where pickle cannot, it differs in each process."""
        try:
            recipe = value.__reduce_ex__(4)
            if isinstance(recipe, str):
                recipe = (recipe, getattr(value, "__module__", None), getattr(value, "__wrapped__", None))
            else:
                recipe = tuple(list(part) if isinstance(part, Iterator) else part for part in recipe)
            self.put("object", self._alone(recipe))
        except Exception:
            number = _opaque.setdefault(id(value), (value, len(_opaque)))[1]
            self.put("opaque", _process + f"{os.getpid()} {number}".encode())


def _keeps_its_value(value: Any) -> bool:
    """Whether an object cannot change; members of tuples and modules are checked one by one."""
    if isinstance(value, type):
        return issubclass(value, (enum.Enum, tuple, Record, NumberedError)) or is_library(value.__module__)
    return isinstance(value, (tuple, frozenset, types.ModuleType, types.BuiltinFunctionType, enum.Enum))


def _scalar_bytes(value: Any) -> bytes | None:
    """The bytes of a number, a text or nothing; None of any other value."""
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
