"""Set an attribute of a part: the next system has the value, or an error is raised."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cosim.attributes import belongs_to_class, is_attribute, names_set_by, refuse_attribute
from cosim.component.kernel_function import HandlerFunction
from cosim.component.values import GIVEN
from cosim.errors import ModelError, Problem
from cosim.registration.kinds import is_kind

if TYPE_CHECKING:
    Component = Any

BUILT = "_is_built"
MADE_WITH = "_made_with"
SET_AFTERWARDS = "_set_afterwards"
FIXED = {
    "name": "the name of a part is given where it is added: model.add(…, 'name')",
    "values": "values are set one by one, by name: part.stiffness = 400.0",
    "declarations": "declarations belong to the class",
}


def set_attribute(part: Component, name: str, value: Any) -> None:
    """Set an attribute of an existing part.

    A parameter, option, attachment or start value is checked as in the constructor, and the part is made anew
    with it. Other attributes are set directly. Neither is possible once a system was built with the part.

    Raises
    ------
    AttributeNameError
        The part has no such attribute, it is computed, or a system was built with the part.
    ModelError
        The value does not fit.
    """
    cls: Any = type(part)
    declared = cls.declarations.get(name)
    fixed = name in FIXED or any(is_kind(base) and name in vars(base) for base in cls.__mro__)
    is_settable = not fixed and (name in vars(part) or is_attribute(cls, name) or _is_plain_value(cls, name))
    if BUILT in vars(part) and (is_settable or declared is not None):
        if not (cls.not_saved and declared is None and name in names_set_by(cls)):
            refuse_attribute(part, name, [], _after_build(part, name, declared))
        object.__setattr__(part, name, value)
    elif declared is not None and declared.kind in GIVEN:
        _remake(part, name, value)
    elif declared is not None:
        refuse_attribute(part, name, [], f"it is computed ({declared.kind}), so it cannot be set")
    elif isinstance(getattr(cls, name, None), property):
        object.__setattr__(part, name, value)
    elif is_settable:
        part.__dict__.setdefault(SET_AFTERWARDS, {})[name] = value
        object.__setattr__(part, name, value)
    elif fixed or hasattr(cls, name):
        of_class = f"it belongs to the class {cls.__name__}: derive a class"
        refuse_attribute(part, name, [], FIXED.get(name, of_class))
    else:
        refuse_attribute(part, name, settable(part))


def _is_plain_value(cls: type, name: str) -> bool:
    """Whether the class body has a plain value of this name, the default of its parts."""
    value = next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), len)
    if value is not len and belongs_to_class(cls, name):
        return False
    return not callable(value) and not hasattr(value, "__get__") and not isinstance(value, HandlerFunction)


def settable(part: Component) -> list[str]:
    """Names that can be set on a part."""
    return sorted(n for n, d in type(part).declarations.items() if d.kind in GIVEN)


def _remake(part: Component, name: str, value: Any) -> None:
    """Give a part the attributes of one that is made with another value."""
    positional, arguments = vars(part).get(MADE_WITH, ((), part.values.given))
    cls = type(part).made_by or type(part)
    try:
        twin = cls(*positional, **{**arguments, name: value})
    except ModelError as error:
        at = f"{part.name}." if part.name else ""
        raise ModelError([Problem(f"{at}{p.where}", p.text) for p in error.problems]) from None
    except TypeError as error:
        refuse_attribute(part, name, [], f"{cls.__name__}() does not take it ({error}): make another part")
    if type(twin) is not type(part):
        refuse_attribute(part, name, [], "it decides what the part is: make another part")
    attributes = {"name": part.name, **vars(part).get(SET_AFTERWARDS, {})}
    part.__dict__.update({**vars(twin), **attributes})


def _after_build(part: Component, name: str, declared: Any) -> str:
    """A hint for setting an attribute of a part after its system was built."""
    if declared is None:
        return (
            "a system was built with this part, and its runs depend on their State alone: declare what "
            f"changes in a run, {name} = cosim.discrete(), and write {name}_next in a handler"
        )
    path = f"{part.name}.{name}"
    if declared.kind not in GIVEN:
        return f"it is computed ({declared.kind}), so it cannot be set"
    if declared.kind in ("option", "attachment"):
        return f"a system was built with this part: make the model anew, with {name} set before it is built"
    return (
        f"a system was built with this part: write state['{path}'] = … for a State of it, or "
        f"model.set_start('{path}', …) for the next one"
    )
