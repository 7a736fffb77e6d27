"""What a component declares that stays the same during a run: parameters, options, texts and files."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cosim.component.class_line import class_line
from cosim.component.declaration import Declaration
from cosim.component.declared_quantity import Shape, declare_quantity
from cosim.component.declared_types import check_bounds, check_choices, check_dtype, choice_options
from cosim.errors import ContractError, UnitError
from cosim.options import options_checked
from cosim.units import parse_quantity
from cosim.value_text import quote


@options_checked
def parameter(
    unit: str | Sequence[str] | None = None,
    shape: Shape = (),
    default: Any = None,
    minimum: float | None = None,
    maximum: float | None = None,
    convert: Callable[[Any], Any] | None = None,
    description: str = "",
    each: bool = False,
    above: float | None = None,
    dtype: type = float,
    choices: Sequence[str] = (),
    elements: Sequence[str] = (),
) -> Any:
    """An Instance-stage parameter: real numbers that may differ between States.

    Parameters
    ----------
    unit : str or list of str
        Modelica unit expression, one for all elements or one for each. ``"{value}/s"``: that of another
        quantity of the component, here per second. Without one it is 1, unless it is named so itself:
        then it is that of the number that is given, ``"3 N/mm"``, or follows from the others.
    shape : int, str or tuple of them
        ``()`` for a scalar; a name for an axis of any length, the same for all that have the name. With
        ``"name+1"`` it is one longer.
    default : array_like, optional
        Used when none is given; without it the parameter has to be given.
    minimum, maximum : float, optional
        Bounds of every element.
    convert : callable, optional
        Turns what people type into an array of this shape; raises ``ValueError`` with a sentence.
    each : bool
        Of an elementwise component: may also be given as one number for each element.
    above : float, optional
        In place of `minimum`: every element has to be more than this.
    dtype : type
        ``bool`` for a switch (kernel functions see 1.0 or 0.0), ``int`` for a count (a whole number),
        ``str`` for text that is one of `choices`: FMUs show a String and no Enumeration.
    choices : sequence of str
        Of a parameter that is one of several words, which an FMU shows as an Enumeration: all of them, in
        place of unit, bounds, `dtype` and `convert`. Kernel functions, hosts and results see the number of
        the chosen one, from 1.
    elements : sequence of str
        What each element is, for those who see them one by one (FMUs): ``"xyz"``, ``("about x", "along x")``.
    """
    if choices:
        excluded = (unit, minimum, maximum, convert, above, None if dtype in (float, str) else dtype)
        check_choices(choices, default, any(setting is not None for setting in excluded))
    check_dtype(dtype, "parameter", choices)
    words = choice_options(choices, dtype)
    if choices:
        unit, minimum, maximum, dtype = "1", 1, len(choices), int
    check_bounds(minimum=minimum, maximum=maximum, above=above)
    if above is not None and minimum is not None:
        raise ContractError(f"{class_line()}: give minimum or above, not both")
    if above is not None:
        minimum = sys.float_info.min if above == 0.0 else math.nextafter(above, math.inf)
    if minimum is not None and maximum is not None and minimum > maximum:
        raise ContractError(f"{class_line()}: minimum {minimum:g} is above maximum {maximum:g}")
    if isinstance(default, str) and isinstance(unit, str) and not (choices or convert or "{" in unit):
        try:
            parse_quantity(default, unit)
        except UnitError as error:
            raise ContractError(f"{class_line()}: default: {error}") from error
    return declare_quantity(
        "parameter",
        unit,
        shape,
        default,
        elements=elements,
        minimum=minimum,
        maximum=maximum,
        convert=convert,
        description=description,
        options={"each": each, **words},
        dtype=dtype,
        above=above,
        declared_at=class_line(),
    )


@options_checked
def option(
    default: Any,
    choices: Sequence[Any] | None = None,
    description: str = "",
    unit_of: str = "",
    in_model_exchange: Mapping[str, str] | None = None,
) -> Any:
    """A constant of the topology (bool, int or str): changing it means building the system again.

    Text needs `choices`; a kernel function sees the place of the chosen one among them. With `unit_of` it is
    the unit of that quantity, as text, and empty by default: ``unit = cosim.option("", unit_of="value")``.

    `in_model_exchange` says what stands for choices that need an integrator of ours, in an FMU whose importer
    integrates: ``in_model_exchange={"iterate": "limit"}``.
    """
    if unit_of:
        text = description or "unit; found from what is given or connected where it is empty"
        options = {"choices": None, "text": True, "unit_of": unit_of}
        return Declaration("option", start="", description=text, options=options)
    if not isinstance(default, (bool, int, float, str)):
        raise ContractError(
            f"{class_line()}: option({quote(default)}): needs True or False, a number or a word"
        )
    if isinstance(default, str) and (choices is None or default not in choices):
        raise ContractError(
            f"{class_line()}: option({quote(default)}): text needs choices=(…) that it is one of"
        )
    exchanged = dict(in_model_exchange or {})
    for choice in (*exchanged, *exchanged.values()):
        if choice not in (choices or ()):
            raise ContractError(
                f"{class_line()}: option({quote(default)}): in_model_exchange: {choice!r} is none of "
                "the choices"
            )
    offered = {"choices": choices, "in_model_exchange": exchanged}
    return Declaration("option", start=default, description=description, options=offered)


def text(description: str = "") -> Any:
    """A text that is not a choice, such as the name of a column: for Python; kernel functions see 0."""
    return Declaration("option", start="", description=description, options={"choices": None, "text": True})


def data_file(description: str = "") -> Any:
    """The path of a file with data, as text; a relative one begins in the folder of the model file."""
    options = {"choices": None, "text": True, "file": True}
    return Declaration("option", start="", description=description, options=options)
