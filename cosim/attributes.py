"""Classes whose objects reject unknown public attributes, so that a misspelled name is an error."""

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
    """Raise `AttributeNameError` if setting this public attribute would have no effect.

    A method may be replaced by another callable.
    """
    cls = type(owner)
    declared = next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)
    # a property
    if isinstance(declared, property):
        if declared.fset is None:
            hint = cls.attribute_hints.get(name, "it follows from others")
            raise AttributeNameError(cls.__name__, name, [], f"it cannot be set: {hint}")
        return
    # a name that functions of the class set, or an annotated one
    if name not in cls.attribute_hints and is_attribute(cls, name):
        return
    # a method or a constant of the class
    if name not in cls.attribute_hints and declared is not None:
        is_called = callable(getattr(cls, name))
        if not belongs_to_class(cls, name) or (is_called and callable(value)):
            return
        hint = f"it is a method: call {name}(…)" if is_called else f"it belongs to the class {cls.__name__}"
        refuse_attribute(owner, name, hint=hint)
    # an unknown name
    refuse_attribute(owner, name, settable_names(owner), cls.attribute_hints.get(name, ""))


def refuse_attribute(owner: Any, name: str, names: Iterable[str] = (), hint: str = "") -> None:
    """Raise `AttributeNameError` with the closest match among `names`, and a hint what to do."""
    raise AttributeNameError(type(owner).__name__, name, names, hint)


def settable_names(owner: Any) -> list[str]:
    """Public attributes that may be set."""
    cls = type(owner)
    properties = [
        n for base in cls.__mro__ for n, v in vars(base).items() if isinstance(v, property) and v.fset
    ]
    return sorted({n for n in (*vars(owner), *properties) if not n.startswith("_")})


def public_names(owner: Any) -> list[str]:
    """Public attributes without methods."""
    cls = type(owner)
    names = {*vars(owner), *(n for base in cls.__mro__ for n, v in vars(base).items() if not callable(v))}
    return sorted(name for name in names if not name.startswith("_"))


@functools.cache
def option_names(cls: type) -> tuple[str, ...]:
    """Names of the parameters of the constructors of a class and of its bases."""
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
    found = [_annotation(base, name) for base in cls.__mro__]
    annotations = [annotation for annotation in found if annotation is not None]
    # most annotations are strings: modules import `annotations` from `__future__`
    return bool(annotations) and not any("ClassVar" in str(annotation) for annotation in annotations)


def belongs_to_class(cls: type, name: str) -> bool:
    """Whether a class attribute is a method or is annotated as a class variable (``x: ClassVar[int]``)."""
    if any("ClassVar" in str(_annotation(base, name)) for base in cls.__mro__):
        return True
    body = next(vars(base)[name] for base in cls.__mro__ if name in vars(base))
    return isinstance(body, (types.FunctionType, staticmethod, classmethod))


def _annotation(cls: type, name: str) -> Any:
    """The annotation of a name in the body of a class; None if there is none."""
    return vars(cls).get("__annotations__", {}).get(name)


@functools.cache
def names_set_by(cls: type, constructor: bool = True) -> frozenset[str]:
    """Names of attributes that functions of a class and of its bases set.

    They are read from the bytecode, since classes need not declare their attributes, and methods may set some
    long after the construction. Names that the functions set on other objects are among them: such a name is
    accepted without need. The names of a class are cached.
    """
    names: set[str] = set()
    for base in cls.__mro__:
        for name, value in vars(base).items():
            function = getattr(value, "function", value)  # unwrap a handler
            function = getattr(function, "function", function)  # unwrap a kernel function
            if isinstance(function, types.FunctionType) and (constructor or name != "__init__"):
                names |= _attribute_names_in_code(function.__code__)
    return frozenset(names)


def _attribute_names_in_code(code: types.CodeType) -> set[str]:
    """Names of the attributes that a function sets, or a function that is defined in it."""
    names = {i.argval for i in dis.get_instructions(code) if i.opname == "STORE_ATTR"}
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _attribute_names_in_code(constant)
    return names


def _is_constant(member: Any) -> bool:
    """Whether a class attribute is a plain value: no function, no property, not missing (None)."""
    return member is not None and not callable(member) and not hasattr(type(member), "__get__")


class Made(type):
    """Metaclass of classes with checked attributes.

    It marks each object as constructed when its constructor has ended; states the signature of a call for
    `inspect`; explains calls with wrong arguments; and calls ``_check_class_attribute(name, value)``, which a
    class may define, before an attribute of the class is set.
    """

    @property
    def __signature__(cls) -> Signature:
        """The parameters of a call: ``call_signature`` of the class, or else those of its constructor."""
        for base in cls.__mro__:
            class_dict = vars(base)
            if "call_signature" in class_dict:
                declared_signature: Signature = class_dict["call_signature"]
                return declared_signature
            constructor = class_dict.get("__init__") or class_dict.get("__new__")
            if constructor is not None and base is not object:
                constructor_signature = signature(getattr(constructor, "__func__", constructor))
                return Signature([*constructor_signature.parameters.values()][1:])  # without self
        return Signature()

    def __setattr__(cls, name: str, value: Any) -> None:
        if (check := getattr(cls, "_check_class_attribute", None)) is not None:
            check(name, value)
        super().__setattr__(name, value)

    if not TYPE_CHECKING:  # type checkers use the signature of the constructor

        def __call__(cls, *positional: Any, **named: Any) -> Any:
            try:
                instance = super().__call__(*positional, **named)
            except TypeError as error:
                # wrong arguments: the traceback has one entry. Errors from inside the constructor have more
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
    """Base of classes whose objects reject unknown public attributes after their construction.

    Until the construction ends any attribute can be set. After that: attributes that exist, attributes of the
    class, and attributes that a method of the class sets. Private names (``_x``) are not checked.

    Attributes
    ----------
    attribute_hints : mapping of str to str
        Defined by subclasses: what to write instead, for names that users try to set.
    reading_hints : mapping of str to str
        Defined by subclasses: what to write instead, for names that users try to read.
    hooks : tuple of str
        Names of optional methods, which subclasses may define. Used by `misspelled_functions`.
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
        """Remember the arguments of the constructor. Does nothing here: subclasses may override it."""

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
            refuse_attribute(self, name, hint="it cannot be deleted: set another value, or make another")
        object.__delattr__(self, name)


class AbstractClosedAttributes(ClosedAttributes, metaclass=MadeAbstract):
    """`ClosedAttributes` for abstract base classes."""


class FixedAttributes(AbstractClosedAttributes):
    """Base of immutable objects: no public attribute can be set after the construction.

    Attributes
    ----------
    instead : str
        Defined by subclasses: what to do instead of setting an attribute.
    """

    instead: ClassVar[str] = "make another"

    if not TYPE_CHECKING:  # type checkers know which attributes there are

        def __setattr__(self, name: str, value: Any) -> None:
            if IS_MADE in self.__dict__ and name[:1] != "_":
                if hasattr(self, name):
                    hint = self.attribute_hints.get(name, self.instead)
                    refuse_attribute(self, name, hint=f"it cannot be set: {hint}")
                near = nearest(name, public_names(self))
                meant = f" Nearest: {near}." if near else ""
                hint = f"no such attribute.{meant} Nothing can be set: {self.instead}"
                refuse_attribute(self, name, hint=hint)
            object.__setattr__(self, name, value)


class MadeFromOptions(AbstractClosedAttributes):
    """Base of objects that are configured by options of their constructor only.

    After the construction only attributes that other methods of the class set can be set: not the options,
    and not attributes that follow from them. For other options users create another object.
    """

    if not TYPE_CHECKING:  # type checkers know which attributes there are

        def __setattr__(self, name: str, value: Any) -> None:
            if IS_MADE in self.__dict__ and name[:1] != "_":
                cls = type(self)
                if name not in names_set_by(cls, constructor=False):
                    if name in option_names(cls):
                        hint = f"it is an option: make another, {cls.__name__}(…, {name}=…)"
                        refuse_attribute(self, name, hint=hint)
                    if name in self.__dict__ or _is_constant(getattr(cls, name, None)):
                        hint = f"it follows from the class and its options: make another, {cls.__name__}(…)"
                        refuse_attribute(self, name, hint=hint)
                    check_attribute(self, name, value)
            object.__setattr__(self, name, value)
