"""Attributes of what users make: a name that nothing reads is an error, not a value without effect."""

from __future__ import annotations

import dis
import functools
import types
from abc import ABCMeta
from collections.abc import Iterable, Mapping
from inspect import Signature, signature
from typing import TYPE_CHECKING, Any, ClassVar

from cosim.call_faults import fault_of_arguments
from cosim.errors import ArgumentError, AttributeNameError, ContractError, MissingAttributeError, nearest
from cosim.misspelled_functions import misspelled_functions

IS_MADE = "_is_made"


def is_made(owner: Any) -> bool:
    """Whether the construction of an object has ended."""
    return IS_MADE in owner.__dict__


def check_attribute(owner: Any, name: str, value: Any) -> None:
    """`AttributeNameError` for a new public attribute that an object that is made does not take.

    In place of a method an object takes another callable: that is called.
    """
    cls = type(owner)
    declared = next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)
    if isinstance(declared, property):
        if declared.fset is None:
            hint = cls.attribute_hints.get(name, "it follows from others")
            raise AttributeNameError(cls.__name__, name, [], f"it cannot be set: {hint}")
        return
    if name not in cls.attribute_hints and is_attribute(cls, name):
        return
    if name not in cls.attribute_hints and declared is not None:
        is_called = callable(getattr(cls, name))
        if not belongs_to_class(cls, name) or (is_called and callable(value)):
            return
        hint = f"it is a method: call {name}(…)" if is_called else f"it belongs to the class {cls.__name__}"
        refuse_attribute(owner, name, [], hint)
    refuse_attribute(owner, name, settable_names(owner), cls.attribute_hints.get(name, ""))


def refuse_attribute(owner: Any, name: str, names: Iterable[str], hint: str = "") -> None:
    """Raise `AttributeNameError`, which names the nearest of the known ones, or says what to do."""
    raise AttributeNameError(type(owner).__name__, name, names, hint)


def settable_names(owner: Any) -> list[str]:
    """Public attributes that may be set."""
    cls = type(owner)
    properties = [
        n for base in cls.__mro__ for n, v in vars(base).items() if isinstance(v, property) and v.fset
    ]
    return sorted({n for n in (*vars(owner), *properties) if not n.startswith("_")})


def public_names(owner: Any) -> list[str]:
    """Public attributes, methods left out."""
    cls = type(owner)
    names = {*vars(owner), *(n for base in cls.__mro__ for n, v in vars(base).items() if not callable(v))}
    return sorted(name for name in names if not name.startswith("_"))


@functools.cache
def option_names(cls: type) -> tuple[str, ...]:
    """Names that constructors of a class and of its bases take."""
    constructors = [
        vars(base)["__init__"] for base in cls.__mro__ if "__init__" in vars(base) and base is not object
    ]
    codes = [function.__code__ for function in constructors if isinstance(function, types.FunctionType)]
    named = [code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount] for code in codes]
    return tuple(dict.fromkeys(name for names in named for name in names))


def is_attribute(cls: type, name: str) -> bool:
    """Whether functions of a class set an attribute of this name, or it is annotated (``x: float``)."""
    if name in names_set_by(cls):
        return True
    notes = [note for base in cls.__mro__ if (note := _annotation(base, name)) is not None]
    return bool(notes) and not any("ClassVar" in str(note) for note in notes)


def belongs_to_class(cls: type, name: str) -> bool:
    """Whether a name of a class is that of a method or is annotated as its own (``x: ClassVar[int]``)."""
    if any("ClassVar" in str(_annotation(base, name)) for base in cls.__mro__):
        return True
    body = next(vars(base)[name] for base in cls.__mro__ if name in vars(base))
    return isinstance(body, (types.FunctionType, staticmethod, classmethod))


def _annotation(cls: type, name: str) -> Any:
    """The annotation of a name in the body of a class; None if there is none."""
    return vars(cls).get("__annotations__", {}).get(name)


@functools.cache
def names_set_by(cls: type, constructor: bool = True) -> frozenset[str]:
    """Names of attributes that functions of a class and of its bases set on any object."""
    names: set[str] = set()
    for base in cls.__mro__:
        for name, value in vars(base).items():
            function = getattr(value, "function", value)  # of a handler
            function = getattr(function, "function", function)  # of a kernel function
            if isinstance(function, types.FunctionType) and (constructor or name != "__init__"):
                names |= _stored(function.__code__)
    return frozenset(names)


def _stored(code: types.CodeType) -> set[str]:
    """Names in the instructions of a function, and of those in it, that set an attribute."""
    names = {i.argval for i in dis.get_instructions(code) if i.opname == "STORE_ATTR"}
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _stored(constant)
    return names


def _is_constant(member: Any) -> bool:
    """Whether what a class has under a name is neither a function nor a property, and not missing."""
    return member is not None and not callable(member) and not hasattr(type(member), "__get__")


class Made(type):
    """Metaclass that notes on each object when its construction has ended."""

    @property
    def __signature__(cls) -> Signature:
        """The parameters of a call: those of ``call_signature`` of the class, else of its constructor."""
        for base in cls.__mro__:
            body = vars(base)
            if "call_signature" in body:
                written: Signature = body["call_signature"]
                return written
            constructor = body.get("__init__") or body.get("__new__")
            if constructor is not None and base is not object:
                called = signature(getattr(constructor, "__func__", constructor))
                return Signature([*called.parameters.values()][1:])
        return Signature()

    def __setattr__(cls, name: str, value: Any) -> None:
        if (check := getattr(cls, "_check_class_attribute", None)) is not None:
            check(name, value)
        super().__setattr__(name, value)

    if not TYPE_CHECKING:  # to them a class is called as its constructor says

        def __call__(cls, *positional: Any, **named: Any) -> Any:
            try:
                instance = super().__call__(*positional, **named)
            except TypeError as error:  # Python's sentence, where no line of a constructor has run
                if error.__traceback__ is None or error.__traceback__.tb_next is not None:
                    raise
                fault = fault_of_arguments(cls.__name__, cls.__signature__, positional, named)
                if not fault:
                    raise
                raise ArgumentError(fault) from None
            if isinstance(instance, ClosedAttributes):
                instance.__dict__[IS_MADE] = True
                instance._store_arguments(positional, named)
            return instance


class MadeAbstract(Made, ABCMeta):
    """The metaclass `Made` for abstract base classes."""


class ClosedAttributes(metaclass=Made):
    """Base of classes whose objects take no unknown public attributes once they are made.

    While it is made an object takes all that its class sets. Afterwards it takes what it has, what its class
    has, and what methods of its class set. Names that begin with an underscore belong to the class alone.

    Attributes
    ----------
    attribute_hints : mapping of str to str
        Of a subclass: what to write in place of setting an attribute that is not one.
    reading_hints : mapping of str to str
        Of a subclass: what to write in place of reading an attribute that is not one.
    hooks : tuple of str
        Of a base class: names of functions that it calls where a subclass has them, and does not have itself.
    """

    attribute_hints: ClassVar[Mapping[str, str]] = {}
    reading_hints: ClassVar[Mapping[str, str]] = {}
    hooks: ClassVar[tuple[str, ...]] = ()

    if not TYPE_CHECKING:  # type checkers know which attributes there are

        def __getattr__(self, name: str) -> Any:
            member = getattr(type(self), name, None)
            if isinstance(member, (property, functools.cached_property)):  # raise its AttributeError again
                return member.__get__(self, type(self))
            if name.startswith("_"):
                raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
            raise MissingAttributeError(self, name)

    def _hint_where_missing(self, name: str) -> str:
        """A hint for reading an attribute that does not exist; "" if there is none."""
        return self.reading_hints.get(name, "")

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if faults := misspelled_functions(cls):
            raise ContractError("\n".join(faults))

    def _store_arguments(self, positional: tuple[Any, ...], named: Mapping[str, Any]) -> None:
        """Keep what the object was made with, where that is needed later."""

    if not TYPE_CHECKING:  # type checkers know which attributes there are

        def __setattr__(self, name: str, value: Any) -> None:
            held = self.__dict__
            if name not in held and name[:1] != "_" and IS_MADE in held:
                check_attribute(self, name, value)
            object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        if is_made(self) and not name.startswith("_"):
            if not hasattr(self, name):
                refuse_attribute(self, name, settable_names(self))
            refuse_attribute(self, name, [], "it cannot be deleted: set another value, or make another")
        object.__delattr__(self, name)


class AbstractClosedAttributes(ClosedAttributes, metaclass=MadeAbstract):
    """`ClosedAttributes` for abstract base classes."""


class FixedAttributes(AbstractClosedAttributes):
    """Base of what is not changed once it is made: no public attribute can be set.

    Attributes
    ----------
    instead : str
        Of a subclass: what to do in place of setting one.
    """

    instead: ClassVar[str] = "make another"

    if not TYPE_CHECKING:  # type checkers know which attributes there are

        def __setattr__(self, name: str, value: Any) -> None:
            if IS_MADE in self.__dict__ and name[:1] != "_":
                if hasattr(self, name):
                    hint = self.attribute_hints.get(name, self.instead)
                    refuse_attribute(self, name, [], f"it cannot be set: {hint}")
                near = nearest(name, public_names(self))
                meant = f" Nearest: {near}." if near else ""
                refuse_attribute(
                    self, name, [], f"no such attribute.{meant} Nothing can be set: {self.instead}"
                )
            object.__setattr__(self, name, value)


class MadeFromOptions(AbstractClosedAttributes):
    """Base of what is made from options, and made anew with other ones.

    Once it is made, only what methods of the class set can be set: not its options, and not what follows
    from them.
    """

    if not TYPE_CHECKING:  # type checkers know which attributes there are

        def __setattr__(self, name: str, value: Any) -> None:
            if IS_MADE in self.__dict__ and name[:1] != "_":
                cls = type(self)
                if name not in names_set_by(cls, constructor=False):
                    if name in option_names(cls):
                        hint = f"it is an option: make another, {cls.__name__}(…, {name}=…)"
                        refuse_attribute(self, name, [], hint)
                    if name in self.__dict__ or _is_constant(getattr(cls, name, None)):
                        hint = f"it follows from the class and its options: make another, {cls.__name__}(…)"
                        refuse_attribute(self, name, [], hint)
                    check_attribute(self, name, value)
            object.__setattr__(self, name, value)
