"""The declarations of a component, at class level: they become the layout of the State.

Each function returns a `Declaration`; the name is that of the class attribute.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from cosim.component.attachment import SOURCE, Attachment
from cosim.component.class_line import class_line
from cosim.component.declaration import Declaration
from cosim.errors import ContractError, UnitError
from cosim.options import options_checked
from cosim.stage import Stage
from cosim.units import parse_quantity, parse_unit
from cosim.value_text import quote

Shape = int | str | tuple[int | str, ...]


def _shape(shape: Shape) -> tuple[int, ...]:
    return tuple(0 if isinstance(axis, str) else axis for axis in _axes(shape))


def _free_length(shape: Shape) -> tuple[str, ...]:
    axes = _axes(shape)
    if not any(isinstance(axis, str) for axis in axes):
        return ()
    return tuple(axis if isinstance(axis, str) else "" for axis in axes)


def _axes(shape: Shape) -> tuple[int | str, ...]:
    """The axes of a shape; `ContractError` unless each is a number of elements or a name."""
    axes = shape if isinstance(shape, tuple) else (shape,)
    for axis in axes:
        is_name = isinstance(axis, str) and axis.partition("+")[0].isidentifier()
        is_number = isinstance(axis, int) and not isinstance(axis, bool) and axis >= 0
        if not is_name and not is_number:
            raise ContractError(
                f"{class_line()}: shape is {quote(shape)}, "
                "needs numbers of elements, or names: 3, (2, 2), 'order'"
            )
    return axes


def _check_dtype(dtype: Any, quantity: str, choices: Sequence[str] | None = None) -> None:
    if dtype not in (float, int, bool) and not (dtype is str and choices):
        type_name = getattr(dtype, "__name__", repr(dtype))
        accepted = "float, int or bool" + ("" if choices is None else ", or str with choices=('…', '…')")
        raise ContractError(f"{class_line()}: {quantity}: dtype is {type_name}, needs {accepted}")


def _typed(
    quantity: str, unit: str | Sequence[str] | None, dtype: type, choices: Sequence[str]
) -> tuple[str | Sequence[str] | None, dict[str, Any]]:
    """Unit, and the arguments of a `Declaration` that say the type of a port."""
    _check_dtype(dtype, quantity, choices)
    if choices:
        excluded = (unit, None if dtype in (float, str) else dtype)
        _check_choices(choices, None, any(setting is not None for setting in excluded))
        return "1", {"dtype": int, "minimum": 1, "maximum": len(choices), "options": _words(choices, dtype)}
    if dtype is bool and unit is None:
        unit = "1"
    return unit, {"dtype": dtype}


def _words(choices: Sequence[str], dtype: type) -> dict[str, Any]:
    """The texts that the numbers of a declaration stand for, and whether its values are text."""
    if not choices:
        return {}
    return {"words": tuple(choices), **({"text": True} if dtype is str else {})}


def _check_bounds(**bounds: Any) -> None:
    """Refuse bounds that are no numbers."""
    for name, bound in bounds.items():
        if bound is None:
            continue
        if isinstance(bound, bool) or not isinstance(bound, (int, float)) or math.isnan(bound):
            raise ContractError(
                f"{class_line()}: {name} is {quote(bound)}, needs a number in the declared unit"
            )


def _units(unit: str | Sequence[str] | None, shape: Shape = ()) -> tuple[str, ...]:
    """One unit, or one for each element; `ContractError` names the line of the class that gives them."""
    if unit is None or (isinstance(unit, str) and "{" in unit):
        return ("1",)
    if not isinstance(unit, (str, list, tuple)):
        meant = f"; a default is given by name: default={unit!r}" if isinstance(unit, (int, float)) else ""
        raise ContractError(
            f"{class_line()}: unit is {quote(unit)}, needs text, 'N/m', or a list of texts{meant}"
        )
    units = (unit,) if isinstance(unit, str) else tuple(unit)
    size = math.prod(_shape(shape))
    if len(units) not in (1, size):
        raise ContractError(f"{class_line()}: {len(units)} units for {size} elements: give one, or {size}")
    for text in units:
        try:
            parse_unit(text)
        except (UnitError, AttributeError, TypeError) as error:
            raise ContractError(f"{class_line()}: {error}") from error
    return units


def _elements(elements: Sequence[str], shape: Shape) -> tuple[str, ...]:
    """The names of the elements; `ContractError` unless there is one for each."""
    if len(elements) not in (0, math.prod(_shape(shape))):
        size = math.prod(_shape(shape))
        raise ContractError(f"{class_line()}: {len(elements)} names of elements for {size} elements")
    return tuple(elements)


def _rule(unit: str | Sequence[str] | None) -> str | None:
    """The rule by which a unit is inferred; "" for a unit that is not declared, None for a declared one."""
    if unit is None:
        return ""
    return unit if isinstance(unit, str) and "{" in unit else None


def _declared(
    kind: str,
    unit: str | Sequence[str] | None,
    shape: Shape,
    start: Any = None,
    *,
    elements: Sequence[str] = (),
    nominal: float | None = None,
    has_rule: bool = True,
    **more: Any,
) -> Declaration:
    """A quantity with a unit and a shape; with `has_rule` its unit may follow from others."""
    return Declaration(
        kind,
        shape=_shape(shape),
        units=_units(unit, shape),
        start=start,
        free_length=_free_length(shape),
        unit_rule=_rule(unit) if has_rule else None,
        elements=_elements(elements, shape),
        nominal=_nominal(nominal),
        **more,
    )


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
        _check_choices(choices, default, any(setting is not None for setting in excluded))
    _check_dtype(dtype, "parameter", choices)
    words = _words(choices, dtype)
    if choices:
        unit, minimum, maximum, dtype = "1", 1, len(choices), int
    _check_bounds(minimum=minimum, maximum=maximum, above=above)
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
    return _declared(
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


def _check_choices(choices: Sequence[str], default: Any, has_more: bool) -> None:
    """`ContractError` unless these are words, each once, that a default is one of."""
    at = class_line()
    if isinstance(choices, str) or not all(isinstance(word, str) and word.strip() for word in choices):
        raise ContractError(f"{at}: choices={choices!r} needs texts: choices=('off', 'on')")
    if len(set(choices)) < len(choices):
        raise ContractError(f"{at}: choices={tuple(choices)!r} has a word twice")
    if has_more:
        raise ContractError(f"{at}: what has choices has neither unit, bounds, dtype nor convert")
    defaults = default if isinstance(default, (list, tuple)) else [default]
    wrong = [word for word in defaults if word is not None and word not in choices]
    if wrong:
        raise ContractError(f"{at}: default {wrong[0]!r} is not one of the choices {tuple(choices)!r}")


@options_checked
def position(
    unit: str | Sequence[str] | None = None,
    shape: Shape = (),
    start: Any = 0.0,
    description: str = "",
    nominal: float | None = None,
    elements: Sequence[str] = (),
) -> Any:
    """A generalized coordinate: part of q; its derivative is ``<name>_dot``."""
    return _declared(
        "position",
        unit,
        shape,
        start,
        has_rule=False,
        description=description,
        elements=elements,
        nominal=nominal,
    )


@options_checked
def speed(
    unit: str | Sequence[str] | None = None,
    shape: Shape = (),
    start: Any = 0.0,
    description: str = "",
    nominal: float | None = None,
    elements: Sequence[str] = (),
) -> Any:
    """A generalized speed: part of u; its derivative is ``<name>_dot``."""
    return _declared(
        "speed",
        unit,
        shape,
        start,
        has_rule=False,
        description=description,
        elements=elements,
        nominal=nominal,
    )


@options_checked
def auxiliary_state(
    unit: str | Sequence[str] | None = None,
    shape: Shape = (),
    start: Any = 0.0,
    description: str = "",
    minimum: float | None = None,
    nominal: float | None = None,
    diagnostic: bool = False,
    band: int | None = None,
) -> Any:
    """An auxiliary continuous state: part of z; its derivative is ``<name>_dot``.

    With `minimum` smaller values are refused where it is set; integration is not checked. A `diagnostic`
    (an energy that is added up) is shown by an FMU where it is asked for. With `band` element i of the
    derivative depends on elements i - band … i + band of vectors that are as long, and on all of others: for
    methods in plain Python, which implicit integrators cannot follow. A wrong one makes them slow.
    """
    _check_bounds(minimum=minimum)
    if band is not None and (not isinstance(band, int) or isinstance(band, bool) or band < 0):
        raise ContractError(
            f"{class_line()}: auxiliary_state: band is {quote(band)}, needs a number of elements: 0, 1, 2 …"
        )
    return _declared(
        "auxiliary",
        unit,
        shape,
        start,
        description=description,
        diagnostic=diagnostic,
        minimum=minimum,
        nominal=nominal,
        options={} if band is None else {"band": band},
    )


@options_checked
def discrete(
    dtype: type = float,
    unit: str | Sequence[str] | None = None,
    shape: Shape = (),
    start: Any = 0,
    invalidates: Stage | str = Stage.TIME,
    description: str = "",
    internal: bool = False,
    diagnostic: bool = False,
) -> Any:
    """A discrete variable, changed by event handlers only; its next value is ``<name>_next``.

    Parameters
    ----------
    dtype : type
        ``float``, ``int`` or ``bool`` (1 or 0, which an FMU shows as a Boolean).
    invalidates : Stage or str
        A change drops the State below this stage; or the name of an option that says which, in small
        letters.
    internal : bool
        Not listed among the variables of a system, so in no FMU and no result; part of the State all
        the same.
    diagnostic : bool
        An FMU shows it where it is asked for.
    """
    _check_dtype(dtype, "discrete")
    if not isinstance(invalidates, (Stage, str)):
        raise ContractError(f"{class_line()}: discrete: invalidates is {quote(invalidates)}, needs a Stage")
    kind = "discrete" if dtype is float else "integer"
    return _declared(
        kind,
        unit,
        shape,
        start,
        description=description,
        diagnostic=diagnostic,
        invalidates=invalidates,
        options={"internal": internal},
        dtype=dtype,
    )


@options_checked
def timer(start: float = math.inf, description: str = "") -> Any:
    """A discrete variable that holds the time, s, at which its handlers (`cosim.on`) run next; inf: never.

    A handler names the next time by writing to ``<name>_next``; until then the timer rests.

    Examples
    --------
    >>> import cosim
    >>> class Echo(cosim.Component):
    ...     '''Waits longer and longer.'''
    ...     again = cosim.timer(start=1.0)
    ...     @cosim.on(again, does="discrete")
    ...     def repeat(t, again_next):
    ...         again_next[0] = 2.0 * t
    """
    options = {"timer": True}
    return Declaration("discrete", "", (), ("s",), start, description=description, options=options)


@options_checked
def cache_slot(
    unit: str | Sequence[str] | None = None,
    shape: Shape = (),
    accumulates: bool = False,
    description: str = "",
    notice: str = "",
    internal: bool = False,
) -> Any:
    """An intermediate result: written by one kernel function, read by later ones.

    With `accumulates` kernel functions only add to it, and it is zeroed before they do. Where `shape` is a
    name, it is as long as the parameters whose shape has that name. With `notice` it is a status, 0 while all
    is well: whenever a step ends with another number, the Simulator notes this sentence, once, in its
    `findings`. With `internal` it is not listed among the variables of a system, as `discrete` variables.
    """
    options = {"internal": internal, **({"notice": notice} if notice else {})}
    return _declared("cache", unit, shape, accumulates=accumulates, description=description, options=options)


@options_checked
def output(
    unit: str | Sequence[str] | None = None,
    shape: Shape = (),
    accumulates: bool = False,
    description: str = "",
    nominal: float | None = None,
    diagnostic: bool = False,
    dtype: type = float,
    choices: Sequence[str] = (),
) -> Any:
    """An output port: a cache slot that other components, FMUs and results see by default.

    Without a unit it takes that of what it is connected to; declare ``"1"`` for what is dimensionless. An
    FMU shows a `diagnostic` where it is asked for. `dtype` and `choices` as for `input`: kernel functions
    write 1 or 0, a whole number, or the number of a word, from 1.
    """
    unit, typed = _typed("output", unit, dtype, choices)
    return _declared(
        "output",
        unit,
        shape,
        nominal=nominal,
        accumulates=accumulates,
        description=description,
        diagnostic=diagnostic,
        **typed,
    )


@options_checked
def input(  # noqa: A001
    unit: str | Sequence[str] | None = None,
    shape: Shape = (),
    start: Any = None,
    description: str = "",
    nominal: float | None = None,
    elements: Sequence[str] = (),
    dtype: type = float,
    choices: Sequence[str] = (),
) -> Any:
    """An input port: connected to a signal, or else an input of the whole system.

    Its derivative, NaN where it is unknown, is ``<name>_dot``. Without a unit it takes that of what it is
    connected to; declare ``"1"`` for what is dimensionless.

    Parameters
    ----------
    start : array_like, optional
        Its value until it is set; else 0, or the first of the choices.
    dtype : type
        ``bool`` for a switch (kernel functions see 1.0 or 0.0), ``int`` for a whole number, ``str`` for text
        that is one of `choices`.
    choices : sequence of str
        Of an input that is one of several words, which an FMU shows as an Enumeration, or with ``dtype=str``
        as a String: all of them. Kernel functions see the number of the present one, from 1.

    Examples
    --------
    >>> import cosim
    >>> class Controller(cosim.Component):
    ...     '''Pushes while it is enabled, as strongly as its mode says.'''
    ...     enable = cosim.input(dtype=bool)
    ...     mode = cosim.input(choices=("gentle", "firm"))
    ...     force = cosim.output(unit="N")
    ...     @cosim.kernel
    ...     def control(enable, mode, force):
    ...         force[0] = 10.0 * mode if enable else 0.0
    """
    unit, typed = _typed("input", unit, dtype, choices)
    if start is None:
        start = choices[0] if choices else 0.0
    return _declared(
        "input", unit, shape, start, description=description, elements=elements, nominal=nominal, **typed
    )


def attachment(kind: Attachment, each: bool = False, description: str = "", **options: Any) -> Any:
    """An attachment of a kind; with `each` kernel functions that use it run once for all there are."""
    options = {"attachment": kind, "provides": kind.name, "each": each, **options}
    return Declaration("attachment", description=description, options=options)


@options_checked
def source(unit: str | None = None, shape: Shape = (), optional: bool = False, description: str = "") -> Any:
    """An attachment to a signal: ``<name>`` is its value, ``<name>_dot`` its derivative (or NaN).

    Also ``<name>_dot2`` and ``<name>_dot3``.

    Parameters
    ----------
    unit : str, optional
        The signal is converted to it; ``"{first}"`` is that of another quantity of the component.
    shape : int, str or tuple of them
        Of a signal that is needed whole, as for `parameter`; ``()`` for a number. A component that is
        `elementwise` takes a vector there too, one element after the other.
    optional : bool
        Nothing needs to be attached; all is NaN then.
    """
    _units(unit, shape)
    declaration = attachment(SOURCE, description=description, unit=unit, optional=optional)
    return replace(declaration, shape=_shape(shape), free_length=_free_length(shape))


@options_checked
def collect(slot: str, description: str = "") -> Any:
    """Every scalar slot of that name in the model: the kernel function runs once for each."""
    return Declaration("collect", description=description, options={"slot": slot})


@options_checked
def history(of: str, keep: str, description: str = "") -> Any:
    """The past of a source, kept for as long as the parameter `keep` says.

    The kernel functions see ``<name>``, the array of all histories, and ``<name>_ring``, the integers
    that say where this one lies in it. What lies there `cosim.kit.History` says.
    """
    for option, value, meant in (("of", of, "source"), ("keep", keep, "parameter")):
        if not isinstance(value, str):
            raise ContractError(
                f"{class_line()}: cosim.history: {option} is {quote(value)}, needs the name of a {meant} of "
                "the class, as text"
            )
    return Declaration("history", description=description, options={"of": of, "keep": keep})


@options_checked
def signal(description: str = "") -> Any:
    """A flag in the State that event handlers and users raise; see `cosim.on`."""
    return Declaration("signal", description=description, start=0)


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


def _nominal(nominal: float | None) -> float | None:
    """A usual magnitude, checked."""
    if nominal is None:
        return None
    if isinstance(nominal, bool) or not isinstance(nominal, (int, float)) or not 0.0 < nominal < math.inf:
        raise ContractError(f"nominal is {quote(nominal)}, needs a finite number greater than 0")
    return float(nominal)
