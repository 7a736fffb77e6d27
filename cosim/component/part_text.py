"""The values of a part, as a line that people read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cosim.component.declaration import Declaration

if TYPE_CHECKING:
    Component = Any

MOST_ELEMENTS = 6
MOST_LETTERS = 300


def shown_values(part: Component) -> str:
    """Parameters, options, attachments and start values: those that were given, then the others.

    Examples
    --------
    >>> import cosim
    >>> class Spring(cosim.Component):
    ...     '''A spring.'''
    ...     stiffness = cosim.parameter(unit="N/m")
    ...     length = cosim.parameter(unit="m", default=0.1)
    >>> shown_values(Spring(stiffness="2 N/mm"))
    'stiffness = 2000 N/m, length = 0.1 m'
    """
    values = part.values.public()
    given_names = [name for name in part.values.given if name in values]
    other_names = [name for name in values if name not in given_names and _is_informative(values[name])]
    text = ""
    for name in [*given_names, *other_names]:
        addition = f"{', ' if text else ''}{name} = {_shown(values[name], part.declarations[name])}"
        if len(text) + len(addition) > MOST_LETTERS:
            return f"{text}, …"
        text += addition
    return text


def _is_informative(value: Any) -> bool:
    """Whether a default says something: an attachment to nothing and a long array do not."""
    if isinstance(value, np.ndarray):
        return value.size <= MOST_ELEMENTS
    return value is not None and value != ""


def _shown(value: Any, declaration: Declaration) -> str:
    """A value with its unit."""
    if hasattr(value, "declarations"):
        return repr(value.name)
    if isinstance(value, str):
        return repr(value)
    if words := declaration.options.get("words"):
        return repr(words[int(value) - 1])
    if not isinstance(value, (float, np.ndarray)):
        return str(value)
    if declaration.dtype is bool:
        return str(bool(value))
    numbers = [f"{number:g}" for number in np.ravel(value)[:MOST_ELEMENTS]]
    if np.size(value) > MOST_ELEMENTS:
        numbers.append(f"… {np.size(value)} in all")
    listed = ", ".join(numbers)
    text = listed if np.ndim(value) == 0 else f"({listed})"
    units = set(declaration.units)
    return text if len(units) > 1 or units <= {"1", ""} else f"{text} {declaration.units[0]}"
