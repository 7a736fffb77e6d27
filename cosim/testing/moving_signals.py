"""A system in motion, for measures to look at."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator
from typing import Any
from weakref import WeakKeyDictionary

import cosim
from cosim.component.declaration import Declaration
from cosim.unit_text import unit_product


class Swing(cosim.Component):
    """A pendulum, whose angle and rate are signals with known derivatives.

    Law: angle'' = -4 sin(angle).
    """

    angle = cosim.position(unit="rad", start=1.2)
    rate = cosim.speed(unit="rad/s", start=0.3)

    @cosim.kernel
    def derivatives(angle, rate, angle_dot, rate_dot):
        angle_dot[0] = rate
        rate_dot[0] = -4.0 * math.sin(angle)


VELOCITY = (0.4, -2.0, 1.1, 0.3, 0.2, 1.5)
"""Of a body that moves, rotation first: no component is zero, and no two are equal."""


def has_unit_of_another(source: Declaration) -> bool:
    """Whether the unit of a source follows from another quantity of its component."""
    return "{" in (source.options.get("unit") or "")


def observed_system(measure: Any) -> cosim.System:
    """A system in which a measure, as part ``measure``, reads whatever it has not been given.

    Its sources become signals of the part ``swing``, in the unit that they declare, its bodies the part
    ``body``, which spins and falls, its coordinates the joint ``joint`` of that body. Bodies are there only
    if it asks for them, or collects what parts have; a body gets a joint of its own.
    Optional sources whose unit follows from another quantity are left open.

    Parameters
    ----------
    measure : Measure
    """
    declarations = type(measure).declarations
    attachments = [d for d in declarations.values() if d.kind == "attachment"]
    model = cosim.Model("observed")
    model.add(Swing, "swing")
    collects = any(d.kind == "collect" for d in declarations.values())
    is_moved = "X_GB" in declarations and type(measure).solved_by is not None
    if collects or is_moved or any(d.options["provides"] != "source" for d in attachments):
        _add_free_body(model)
    attached = dict(measure.values.given)
    signals = itertools.cycle(["swing.angle", "swing.rate"])
    for declaration in attachments:
        is_left_open = declaration.options.get("optional") and has_unit_of_another(declaration)
        if declaration.name not in attached and not is_left_open:
            attached[declaration.name] = _attached(model, declaration, attached, signals)
    model.add(type(measure), "measure", **attached)
    if is_moved:
        model.add("mechanics.free", "its_joint", parent="ground", child="measure", u=VELOCITY)
    return model.build()


def _add_free_body(model: cosim.Model) -> None:
    """Add a body that spins and falls."""
    inertia: Any = (0.4, 0.5, 0.8)
    model.add("mechanics.ground", "ground")
    model.add("mechanics.rigid_body", "body", mass=2.0, center_of_mass=(0.1, 0.0, -0.2), inertia=inertia)
    model.add("mechanics.gravity", "gravity")
    model.add("mechanics.free", "joint", parent="ground", child="body", u=VELOCITY)


def _attached(
    model: cosim.Model, declaration: Declaration, attached: dict[str, Any], signals: Iterator[str]
) -> str:
    """What a measure reads through an attachment: a part, or the next signal in the declared unit."""
    provides = declaration.options["provides"]
    if provides != "source":
        return {"body": "body", "coordinate": "joint"}[provides]
    if has_unit_of_another(declaration):
        return _in_unit(model, _like_the_other(declaration, attached), declaration)
    return _in_unit(model, next(signals), declaration)


_systems: WeakKeyDictionary[type, cosim.System] = WeakKeyDictionary()


def system_of(case: Any) -> cosim.System:
    """The system of `observed_system` with what a test class makes: built once, since it is never changed.

    A part that may remember something (it is Python, or stands for what is outside) is made anew each time.

    Parameters
    ----------
    case : class with `make`
    """
    if case not in _systems:
        part = case.make()
        system = observed_system(part)
        if part.not_saved or _is_python(part):
            return system
        _systems[case] = system
    return _systems[case]


def forget_system(case: Any) -> None:
    """Have the part of a test class made anew the next time."""
    _systems.pop(case, None)


def _is_python(part: Any) -> bool:
    functions = [*part.kernels.values(), *(handler.function for handler in part.handlers.values())]
    return any(function.is_python for function in functions)


def _duration(model: cosim.Model) -> str:
    """A time that goes up and down, and stays above 0."""
    if "duration" not in model.parts:
        model.add("measures.constant", "mean_duration", value="0.1 s")
        model.add("measures.sinusoid", "swinging_duration", amplitude="0.05 s", frequency="2 rad/s")
        model.add("measures.plus", "duration", first="mean_duration", second="swinging_duration")
    return "duration"


def _in_unit(model: cosim.Model, path: str, source: Declaration) -> str:
    """A signal in the unit that a source declares, the same numbers otherwise."""
    unit = source.options.get("unit")
    if unit is None or has_unit_of_another(source):
        return path
    if unit == "s":
        return _duration(model)
    name = f"{source.name}_signal"
    factor = f"1 {unit_product((unit,), ('rad/s' if path == 'swing.rate' else 'rad',))}"
    model.add("measures.scale", name, source=path, factor=factor)
    return name


def _like_the_other(source: Declaration, attached: dict[str, Any]) -> str:
    """A signal that measures the same as what the unit of a source refers to."""
    named = re.findall(r"{(\w+)}", source.options["unit"])
    followed = attached.get(named[0]) if len(named) == 1 else None
    return followed if isinstance(followed, str) else "swing.angle"
