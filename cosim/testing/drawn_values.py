"""Values of a part's own: states, discrete variables, inputs and parameters, drawn at random."""

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
AT_BOUND = 0.15
"""How often a parameter is drawn at a bound that it may have: an exact value is a class of its own."""
ATTEMPTS = 8
"""Draws of parameters, until those that a part refuses together are left as they are declared."""


def drawn_values(state: cosim.State, part: str, seed: int) -> Values:
    """Drawn values of a part's own variables: by name, the same for each seed.

    They respect bounds and kinds. Parameters keep their sign and lie within a factor of ten of what they are
    now, arrays as a whole, so that tables still rise; poses and directions are turned; switches are 0 or 1,
    and whole numbers that have no bounds, too. States and inputs lie on both sides of their start values,
    from a hundredth to three times their usual size away: of the seeds 1 and 2 (3 and 4, …) one on each side.
    A switch is 0 with one of them and 1 with the other. Timers and what is internal stay as they are.

    Parameters
    ----------
    state : State
        With the declared values; it stays as it is.
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
    >>> found = drawn_values(state, "spring", 1)
    >>> 0.0 <= found["stiffness"] <= 30.0 and found["length"] != 0.0
    True
    """
    declared = declared_values(state, part)
    if seed == 0:
        return declared
    declarations = state.system.parts[part].declarations
    for attempt in range(ATTEMPTS):
        drawn = {
            name: _drawn(
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
    """The values of a part in a State that can be drawn."""
    system, numbers = state.system, {}
    state = state.copy().realize(cosim.Stage.TIME)  # where inputs can be read
    for name, declaration in system.parts[part].declarations.items():
        path = f"{part}.{name}"
        if declaration.kind not in DRAWN or declaration.options.get("timer"):
            continue
        if path not in system.variables or not system.variables[path].slot.size:
            continue  # it is internal, or of no elements
        if declaration.kind == "input" and path not in system.inputs:
            continue  # it is connected
        numbers[name] = _number(state[path])
    return numbers


def write_values(state: cosim.State, part: str, values: Mapping[str, Any]) -> None:
    """Set the variables of a part."""
    for name, value in values.items():
        state[f"{part}.{name}"] = value


def values_text(values: Mapping[str, Any]) -> str:
    """Values in the message of a check that fails."""
    return ", ".join(f"{name} = {np.array2string(np.asarray(v), precision=9)}" for name, v in values.items())


def _random(seed: int, name: str, attempt: int) -> np.random.Generator:
    """A generator for one variable, so that further variables do not change its values."""
    return np.random.default_rng([seed, zlib.crc32(name.encode()), attempt])


def _switches(seed: int, name: str, attempt: int, shape: tuple[int, ...]) -> Vector:
    """0 or 1 for each element; the other one in the other seed of a pair."""
    zeros_and_ones = _random(-(-seed // 2), name + " of a pair", attempt).integers(0, 2, shape).astype(float)
    return 1.0 - zeros_and_ones if seed % 2 == 0 else zeros_and_ones


def _number(value: Any) -> Any:
    array = np.asarray(value)
    return array.copy() if array.ndim else array.item()


def _drawn(declaration: Any, now: Vector, random: np.random.Generator, switches: Vector) -> Any:
    """One value, in its bounds."""
    least = -math.inf if declaration.minimum is None else declaration.minimum
    most = math.inf if declaration.maximum is None else declaration.maximum
    if declaration.dtype is bool:
        drawn = switches
    elif declaration.dtype is int:
        drawn = _whole(declaration, now, least, most, random, switches)
    elif declaration.kind == "parameter":
        drawn = _parameter(declaration, now, least, most, random, switches)
    else:
        usual = declaration.nominal or 1.0
        size = np.where(now == 0.0, usual, np.abs(now)) * 10.0 ** random.uniform(-2.0, 0.5, now.shape)
        drawn = now + size * (2.0 * switches - 1.0)
    drawn = np.clip(drawn, least, most)
    return _number(drawn.astype(int) if declaration.kind == "integer" else drawn)


def _whole(
    declaration: Any, now: Vector, least: float, most: float, random: np.random.Generator, switches: Vector
) -> Vector:
    """A whole number: between its bounds, else near a count that is given, or none or one."""
    if math.isfinite(least) and math.isfinite(most):
        integers: Vector = random.integers(int(least), int(most) + 1, now.shape).astype(float)
        return integers
    if declaration.kind == "parameter":
        up, down = random.integers(1, 3, now.shape), random.integers(0, 2, now.shape)
        return now + np.where(switches == 1.0, up, -down)
    return switches


def _parameter(
    declaration: Any, now: Vector, least: float, most: float, random: np.random.Generator, switches: Vector
) -> Vector:
    """A real parameter: another size of the same, or at a bound."""
    if now.shape == (12,) and _is_turn(now[:9].reshape(3, 3)):
        rotation, reach = _turn(random), 1.0 + float(np.abs(now[9:]).max())
        by = random.uniform(-0.3, 0.3, 3) * reach
        return np.concatenate([(rotation @ now[:9].reshape(3, 3)).ravel(), now[9:] + by])
    if now.shape == (3,) and declaration.convert is not None and math.isclose(float(now @ now), 1.0):
        turned: Vector = _turn(random) @ now
        return turned
    bounds = [b for b in (least, most) if math.isfinite(b) and declaration.above is None]
    if bounds and not now.shape and random.uniform() < AT_BOUND:
        return np.asarray(random.choice(bounds))
    if math.isfinite(least) and math.isfinite(most) and least < 0.0 < most and not now.shape:
        return np.asarray(random.uniform(least, most))
    if not np.any(now):
        usual = declaration.nominal or 1.0
        sign = 1.0 if least >= 0.0 else 2.0 * switches.flat[0] - 1.0
        return np.full(now.shape, sign * usual * 10.0 ** random.uniform(-2.0, 0.0))
    scaled: Vector = now * 10.0 ** random.uniform(-1.0, 1.0)
    return scaled


def _is_turn(rotation: Vector) -> bool:
    return bool(np.allclose(rotation @ rotation.T, np.eye(3), atol=1e-9))


def _turn(random: np.random.Generator) -> Vector:
    """A rotation by up to 0.6 rad about any axis."""
    axis = random.normal(size=3)
    x, y, z = axis / float(np.sqrt(axis @ axis))
    angle = random.uniform(-0.6, 0.6)
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    rotation: Vector = np.eye(3) + math.sin(angle) * cross + (1.0 - math.cos(angle)) * (cross @ cross)
    return rotation
