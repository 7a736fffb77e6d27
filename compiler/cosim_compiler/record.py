"""Records: memory with named fields, declared once for plain Python, machine code and C.

    class Witness(Record):
        '''A function whose zeros are events.'''

        level: float
        direction: int

        def is_falling(self):
            return self.direction < 0

A field is a ``float``, an ``int``, another record, which lies inside, or ``Rows[…]`` of one of these: the
address and the length of what lies elsewhere. Every field is a multiple of eight bytes wide, so all platforms
agree.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import inspect
import sys
import types
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import numpy as np

from cosim_compiler.convention import address_of
from cosim_compiler.errors import ContractError

NUMBERS: dict[Any, Any] = {float: ctypes.c_double, int: ctypes.c_int64}
C_NUMBERS = {float: "double", int: "int64_t"}
NUMPY_NUMBERS: dict[Any, type] = {float: np.float64, int: np.int64}


class _AddressAndLength(ctypes.Structure):
    _fields_ = (("at", ctypes.c_void_p), ("n", ctypes.c_int64))


if TYPE_CHECKING:
    Kind = TypeVar("Kind")

    class Rows(Generic[Kind]):
        """An array of records or numbers, for type checkers."""

        kind: Any
        element: Any

        def __len__(self) -> int: ...
        def __getitem__(self, place: int) -> Kind: ...
        def __iter__(self) -> Iterator[Kind]: ...

else:

    class Rows:
        """Several numbers or records that lie elsewhere: ``Rows[float]``, ``Rows[Witness]``."""

        def __init__(self, kind: Any) -> None:
            self.kind = kind

        def __class_getitem__(cls, kind: Any) -> Rows:
            return cls(kind)

        @property
        def element(self) -> Any:
            """The kind, as ctypes has it."""
            return NUMBERS.get(self.kind, self.kind)


class _RecordType(type(ctypes.Structure)):  # type: ignore[misc]
    """Makes the fields of a record from the annotations of its class."""

    def __new__(cls, name: str, bases: tuple[type, ...], space: dict[str, Any]) -> Any:
        fields: list[tuple[str, Any]] = []
        declared = {}
        names = {**vars(sys.modules[space["__module__"]]), "Rows": Rows, "ClassVar": ClassVar}
        for field, annotation in space.get("__annotations__", {}).items():
            kind = eval(annotation, names) if isinstance(annotation, str) else annotation  # noqa: S307 (the author's own text)
            if getattr(kind, "__origin__", None) is ClassVar:
                continue
            declared[field] = kind
            if isinstance(kind, Rows):
                _check_kind(name, field, kind.kind)
                fields.append((_hidden(field), _AddressAndLength))
                space[field] = _rows_property(field, kind)
            else:
                _check_kind(name, field, kind)
                fields.append((field, NUMBERS.get(kind, kind)))
        space["declared"] = {**getattr(bases[0], "declared", {}), **declared} if bases else declared
        space["_fields_"] = fields
        space.setdefault("__slots__", ())  # so that a misspelt field is an error
        return super().__new__(cls, name, bases, space)


def _check_kind(owner: str, field: str, kind: Any) -> None:
    if kind in NUMBERS or (isinstance(kind, type) and issubclass(kind, Record)):
        return
    raise ContractError(
        f"{owner}.{field}: a field is a float, an int, a record, or Rows[…] of these, not {kind!r}"
    )


def _hidden(field: str) -> str:
    return f"_{field}_"


def _rows_property(field: str, rows: Rows) -> property:
    def read(self: Any) -> Any:
        held = getattr(self, _hidden(field))
        return (rows.element * held.n).from_address(held.at or 0) if held.n else (rows.element * 0)()

    return property(read)


_Structure: Any = ctypes.Structure


class Record(_Structure, metaclass=_RecordType):
    """Base of all records; see the module.

    Attributes
    ----------
    declared : dict of str to kind
        The fields by name, as they were annotated.
    """

    declared: ClassVar[dict[str, Any]]

    def hold(self, field: str, elements: Any) -> None:
        """Let the rows of a field be those of an array of ctypes or of NumPy, which the caller keeps alive.

        Parameters
        ----------
        field : str
        elements : array
            Of the kind that the field has.
        """
        rows = self.declared.get(field)
        if not isinstance(rows, Rows):
            raise ContractError(f"{type(self).__name__}.{field} is not a field of rows")
        if isinstance(elements, np.ndarray):
            if elements.dtype != NUMPY_NUMBERS.get(rows.kind):
                raise ContractError(f"{type(self).__name__}.{field} holds {rows.kind}, not {elements.dtype}")
            if elements.ndim != 1 or not elements.flags.c_contiguous:
                raise ContractError(
                    f"{type(self).__name__}.{field} needs an array of one dimension without gaps, not one of "
                    f"the shape {elements.shape}"
                )
            elements = (rows.element * elements.size).from_buffer(elements)
        elif elements._type_ is not rows.element:
            raise ContractError(f"{type(self).__name__}.{field} holds {rows.kind}, not {elements._type_}")
        held = getattr(self, _hidden(field))
        held.at, held.n = ctypes.addressof(elements), len(elements)


def rows_of(cls: Any, view: Any, first: int, count: int) -> Any:
    """Records that lie in a view of numbers, one after the other.

    With ``float`` or ``int`` in place of a record it is a part of the view. Unlike that of
    ``view[first : first + count]``, all of it must lie inside the view: machine code does not check the ends.

    Parameters
    ----------
    cls : type
        A record whose fields, and those of records inside, have the type of the view; or ``float``, ``int``.
    view : ndarray
    first : int
        Where the first record begins.
    count : int
    """
    if cls in NUMBERS:
        return view[first : first + count]
    if not count:
        return (cls * 0)()
    return (cls * int(count)).from_address(address_of(view) + view.itemsize * int(first))


def layout_of(cls: type[Record]) -> list[tuple[str, int, Any]]:
    """The fields of a record: name, offset in bytes, kind (as in `declared`)."""
    return [
        (name, getattr(cls, _hidden(name) if isinstance(kind, Rows) else name).offset, kind)
        for name, kind in cls.declared.items()
    ]


def width_of(cls: type[Record]) -> int:
    """How many numbers of eight bytes a record has."""
    return ctypes.sizeof(cls) // 8


def place_in(cls: type[Record], field: str) -> int:
    """The index of a field among the numbers of a record; ``"inner.field"`` is a field of a record inside."""
    place, kind = 0, cls
    for name in field.split("."):
        place += int(getattr(kind, name).offset) // 8
        kind = kind.declared[name]
    return place


def words_of(record: Record) -> list[int]:
    """The fields of a record in which all are integers, also those of records inside, as a list."""
    words: list[int] = np.frombuffer(record, dtype=np.int64).tolist()
    return words


def layout_digest(cls: type[Record]) -> str:
    """The digest of the names, places and kinds of all fields, with those of records inside."""
    described = [f"{name} {offset} {_kind_in_words(kind)}" for name, offset, kind in layout_of(cls)]
    return hashlib.sha256("\n".join([cls.__name__, *described]).encode()).hexdigest()[:32]


def _kind_in_words(kind: Any) -> str:
    if isinstance(kind, Rows):
        return f"rows of {_kind_in_words(kind.kind)}"
    return str(C_NUMBERS.get(kind) or layout_digest(kind))


def computed_property(cls: type | None, name: str) -> types.FunctionType | None:
    """The function that computes a property, cached or not; None where a name is not a property."""
    if name in getattr(cls, "declared", ()):
        return None
    value: Any = inspect.getattr_static(cls, name, None)
    getter = value.func if isinstance(value, functools.cached_property) else getattr(value, "fget", None)
    return getter if isinstance(getter, types.FunctionType) else None


def functions_of(cls: type) -> list[types.FunctionType]:
    """The methods and the properties of a class and of its bases."""
    bases = [base for base in cls.__mro__ if base not in (tuple, *Record.__mro__)]
    names = dict.fromkeys(name for base in bases for name in vars(base) if not name.startswith("_"))
    members = [computed_property(cls, name) or getattr(cls, name) for name in names]
    return [value for value in members if isinstance(value, types.FunctionType)]


def methods_of(cls: Any) -> list[types.FunctionType]:
    """The methods and properties of a record, and of those that its fields are or have rows of."""
    return [function for record in classes_in(cls) for function in functions_of(record)]


def classes_in(cls: Any) -> list[type]:
    """A record, and those that its fields are or have rows of."""
    classes, unread = [cls], [cls]
    while unread:
        kinds = [kind.kind if isinstance(kind, Rows) else kind for kind in unread.pop().declared.values()]
        inside = [kind for kind in dict.fromkeys(kinds) if kind not in NUMBERS and kind not in classes]
        unread += inside
        classes += inside
    return classes
