"""Random values for the variables of a part: states, discrete variables, inputs and parameters.

The values have the bounds and types of their declarations:

- A parameter keeps its sign and lies within a factor of ten of its declared value, or at a bound. An array
  gets one factor for all elements, so that the values of a table still rise.
- A pose or a direction is rotated.
- A switch is 0 or 1. Seeds 1 and 2 draw opposite values; so do seeds 3 and 4, and so on.
- An integer with two bounds lies between them. A parameter without them changes by at most 2; a variable
  without them is drawn as a switch.
- A state or an input lies off its declared value, by a hundredth to three times its size. Seeds 1 and 2 draw
  opposite sides.
- Timers and internal variables are not drawn.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim

Values = dict[str, Any]
Vector = NDArray[np.float64]

DRAWN = ("parameter", "position", "speed", "auxiliary", "discrete", "integer", "input")
"""The kinds of declarations whose values are drawn."""
AT_BOUND = 0.15
"""The probability that a parameter is drawn exactly at a bound: laws often treat that value separately."""
ATTEMPTS = 8
"""Draws until a part accepts the values together; after the last one parameters keep declared values."""
POSE_SIZE = 12
"""The elements of a pose: a rotation matrix by rows, then a position."""


def drawn_values(state: cosim.State, part: str, seed: int) -> Values:
    """Random values of the variables of a part, by name; a seed always gives the same values.

    Parameters
    ----------
    state : State
        Has the declared values; it is not changed.
    part : str
    seed : int
        0: the declared values.

    Examples
    --------
    >>> import cosim
    >>> class Spring(cosim.Component):
    ...     '''A spring.'''
    ...     stiffness = cosim.parameter(unit="N/m", minimum=0.0, default=3.0)
    ...     length = cosim.input(unit="m")
    >>> model = cosim.Model("one")
    >>> part = model.add(Spring, "spring")
    >>> state = model.build().default_state()
    >>> drawn_values(state, "spring", 0)
    {'stiffness': 3.0, 'length': 0.0}
    >>> values = drawn_values(state, "spring", 1)
    >>> 0.0 <= values["stiffness"] <= 30.0 and values["length"] != 0.0
    True
    """
    declared = declared_values(state, part)
    if seed == 0:
        return declared
    declarations = state.system.parts[part].declarations
    for attempt in range(ATTEMPTS):
        drawn = {
            name: _draw(
                declarations[name],
                np.asarray(value, float),
                _random(seed, name, attempt),
                _switches(seed, name, attempt, np.shape(value)),
            )
            for name, value in declared.items()
        }
        trial = state.copy()
        try:
            write_values(trial, part, drawn)
            trial.realize(cosim.Stage.INSTANCE)
        except cosim.CosimError:
            continue
        return drawn
    return {n: v if declarations[n].kind == "parameter" else drawn[n] for n, v in declared.items()}


def declared_values(state: cosim.State, part: str) -> Values:
    """The present values of those variables of a part that are drawn, by name."""
    system, values = state.system, {}
    state = state.copy().realize(cosim.Stage.TIME)  # where inputs can be read
    for name, declaration in system.parts[part].declarations.items():
        path = f"{part}.{name}"
        if declaration.kind not in DRAWN or declaration.options.get("timer"):
            continue
        if path not in system.variables or not system.variables[path].slot.size:
            continue  # it is internal, or has no elements
        if declaration.kind == "input" and path not in system.inputs:
            continue  # it is connected
        values[name] = _number(state[path])
    return values


def write_values(state: cosim.State, part: str, values: Mapping[str, Any]) -> None:
    """Set the variables of a part."""
    for name, value in values.items():
        state[f"{part}.{name}"] = value


def values_text(values: Mapping[str, Any]) -> str:
    """Values as text, for messages of failed checks."""
    return ", ".join(f"{name} = {np.array2string(np.asarray(v), precision=9)}" for name, v in values.items())


def _random(seed: int, name: str, attempt: int) -> np.random.Generator:
    """A generator for one variable, so that further variables do not change its values."""
    return np.random.default_rng([seed, zlib.crc32(name.encode()), attempt])


def _switches(seed: int, name: str, attempt: int, shape: tuple[int, ...]) -> Vector:
    """0 or 1 for each element; the two seeds of a pair (1 and 2, 3 and 4, …) get opposite ones."""
    pair = (seed + 1) // 2
    zeros_and_ones = _random(pair, name + " of a pair", attempt).integers(0, 2, shape).astype(float)
    return 1.0 - zeros_and_ones if seed % 2 == 0 else zeros_and_ones


def _number(value: Any) -> Any:
    """A scalar as a number of Python, an array as a copy."""
    array = np.asarray(value)
    return array.copy() if array.ndim else array.item()


def _draw(declaration: Any, declared: Vector, random: np.random.Generator, switches: Vector) -> Any:
    """A value of one variable within its bounds."""
    minimum = -math.inf if declaration.minimum is None else declaration.minimum
    maximum = math.inf if declaration.maximum is None else declaration.maximum
    if declaration.dtype is bool:
        drawn = switches
    elif declaration.dtype is int:
        drawn = _draw_integer(declaration, declared, minimum, maximum, random, switches)
    elif declaration.kind == "parameter":
        drawn = _draw_parameter(declaration, declared, minimum, maximum, random, switches)
    else:
        usual_size = np.where(declared == 0.0, declaration.nominal or 1.0, np.abs(declared))
        distance = usual_size * 10.0 ** random.uniform(-2.0, 0.5, declared.shape)
        drawn = declared + distance * (2.0 * switches - 1.0)
    drawn = np.clip(drawn, minimum, maximum)
    return _number(drawn.astype(int) if declaration.kind == "integer" else drawn)


def _draw_integer(
    declaration: Any,
    declared: Vector,
    minimum: float,
    maximum: float,
    random: np.random.Generator,
    switches: Vector,
) -> Vector:
    """An integer between two bounds; else a parameter near its declared value, or 0 or 1."""
    if math.isfinite(minimum) and math.isfinite(maximum):
        integers: Vector = random.integers(int(minimum), int(maximum) + 1, declared.shape).astype(float)
        return integers
    if declaration.kind == "parameter":
        increase, decrease = random.integers(1, 3, declared.shape), random.integers(0, 2, declared.shape)
        return declared + np.where(switches == 1.0, increase, -decrease)
    return switches


def _draw_parameter(
    declaration: Any,
    declared: Vector,
    minimum: float,
    maximum: float,
    random: np.random.Generator,
    switches: Vector,
) -> Vector:
    """A real parameter."""
    rotated = _draw_rotated(declaration, declared, random)
    if rotated is not None:
        return rotated
    is_scalar = not declared.shape
    # a parameter that has to lie above a bound cannot be at one
    bounds = [bound for bound in (minimum, maximum) if math.isfinite(bound) and declaration.above is None]
    if bounds and is_scalar and random.uniform() < AT_BOUND:
        return np.asarray(random.choice(bounds))
    # bounds on both sides of 0, as of a cosine: any value and any sign
    if is_scalar and math.isfinite(minimum) and math.isfinite(maximum) and minimum < 0.0 < maximum:
        return np.asarray(random.uniform(minimum, maximum))
    # 0 has neither a size nor a sign that a factor could keep
    if not np.any(declared):
        sign = 1.0 if minimum >= 0.0 else 2.0 * switches.flat[0] - 1.0
        usual_size = declaration.nominal or 1.0
        return np.full(declared.shape, sign * usual_size * 10.0 ** random.uniform(-2.0, 0.0))
    scaled: Vector = declared * 10.0 ** random.uniform(-1.0, 1.0)
    return scaled


def _draw_rotated(declaration: Any, declared: Vector, random: np.random.Generator) -> Vector | None:
    """A pose that is rotated and moved, or a unit vector that is rotated; None of all other parameters."""
    if declared.shape == (POSE_SIZE,) and _is_rotation(declared[:9].reshape(3, 3)):
        rotation, position = _draw_rotation(random) @ declared[:9].reshape(3, 3), declared[9:]
        usual_distance = 1.0 + float(np.abs(position).max())
        return np.concatenate([rotation.ravel(), position + random.uniform(-0.3, 0.3, 3) * usual_distance])
    is_unit = declared.shape == (3,) and math.isclose(float(declared @ declared), 1.0)
    if is_unit and declaration.convert is not None:  # such declarations normalize directions
        direction: Vector = _draw_rotation(random) @ declared
        return direction
    return None


def _is_rotation(matrix: Vector) -> bool:
    return bool(np.allclose(matrix @ matrix.T, np.eye(3), atol=1e-9))


def _draw_rotation(random: np.random.Generator) -> Vector:
    """A rotation by up to 0.6 rad about any axis (Rodrigues' formula)."""
    axis = random.normal(size=3)
    x, y, z = axis / float(np.sqrt(axis @ axis))
    angle = random.uniform(-0.6, 0.6)
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    rotation: Vector = np.eye(3) + math.sin(angle) * cross + (1.0 - math.cos(angle)) * (cross @ cross)
    return rotation
