"""The signals that a component declares: what it computes, reads, remembers and raises."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from cosim.component.attachment import SOURCE, Attachment
from cosim.component.class_line import class_line
from cosim.component.declaration import Declaration
from cosim.component.declared_quantity import Shape, declare_quantity, free_length, shape_of, units_of
from cosim.component.declared_types import typed_port
from cosim.errors import ContractError
from cosim.options import options_checked
from cosim.value_text import quote


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
    return declare_quantity(
        "cache", unit, shape, accumulates=accumulates, description=description, options=options
    )


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
    FMU shows a `diagnostic` only if its export names it. `dtype` and `choices` as for `input`: kernel
    functions write 1 or 0, a whole number, or the number of a word, from 1.
    """
    unit, typed = typed_port("output", unit, dtype, choices)
    return declare_quantity(
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
    unit, typed = typed_port("input", unit, dtype, choices)
    if start is None:
        start = choices[0] if choices else 0.0
    return declare_quantity(
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
    units_of(unit, shape)
    declaration = attachment(SOURCE, description=description, unit=unit, optional=optional)
    return replace(declaration, shape=shape_of(shape), free_length=free_length(shape))


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
