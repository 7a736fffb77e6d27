"""A linear system from a system and a State."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import is_pattern, matches
from cosim_dynamics.free_directions import independent
from cosim_dynamics.linearization import Linearization
from cosim_dynamics.tangent import Tangent, slopes

Array = NDArray[np.float64]


def linearize(
    system: cosim.System,
    state: cosim.State | None = None,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
) -> Linearization:
    """Small changes about a State: dx/dt = A x + B u, y = C x + D u.

    By differences of fourth order. What changes at events only is held, and so is what delays remember. About
    a State that moves, A holds for this instant.

    Where constraints forbid directions, x are coordinates and speeds that are independent of each other,
    chosen from those of the system; the others follow from them. An input may change forces, but not what a
    constraint holds: of the length of a rod as an input B says nothing.

    Parameters
    ----------
    system : System
    state : State, optional
        By default the default State; `equilibrium` finds one at rest. It is not changed.
    inputs : sequence of str, optional
        Inputs, parameters or discrete variables that are real; by default the free inputs of the system.
    outputs : sequence of str, optional
        Signals, or patterns of signals (``"engine.*"``); by default the outputs of the system.

    Raises
    ------
    LookUpError
        A name that does not exist, with the nearest one.
    ValueError
        A name that stands for no real input, or for no real signal.

    Examples
    --------
    >>> import cosim
    >>> from cosim_mechanics import Multibody
    >>> model = Multibody("pendulum", gravity=(0, -4.0, 0))
    >>> body = model.body("bob", mass=1.0, center_of_mass=(0, -1, 0), inertia=(0, 0, 0))
    >>> joint = model.joint("pin", name="hinge", child=body)
    >>> linear = linearize(model.build())
    >>> linear.states, (linear.A.round(9) + 0.0).tolist()
    (['hinge.q', 'hinge.u'], [[0.0, 1.0], [-4.0, 0.0]])
    """
    start = (system.default_state() if state is None else state).copy().realize(cosim.Stage.REPORT)
    tangent = Tangent(start)
    y, probe = np.array(start.y), start.copy()
    input_paths = list(system.inputs if inputs is None else inputs)
    output_paths = list(system.outputs) if outputs is None else _expanded(system, outputs)
    values = {path: _input(system, start, path) for path in input_paths}
    for path in output_paths:
        _output(system, start, path)

    def answer() -> Array:
        probe.realize(cosim.Stage.REPORT)
        read = [np.ravel(system.read(probe, path)) for path in output_paths]
        return np.concatenate([np.array(probe.y_dot), *read])

    def after_change(x: Array) -> Array:
        probe.set_y(y + tangent.basis @ x)
        return answer()

    by_state = slopes(after_change, np.maximum(1.0, abs(tangent.inverse @ y)))
    probe.assign(start)
    flat = np.concatenate([np.zeros(0), *(np.ravel(v) for v in values.values())])

    def after_input(change: Array) -> Array:
        place = 0
        for path, value in values.items():
            size = value.size
            system.write(probe, path, _shaped(value, np.ravel(value) + change[place : place + size]))
            place += size
        return answer()

    by_input = slopes(after_input, np.maximum(1.0, abs(flat)))
    ny = system.ny
    free, among = independent(start, tangent)
    reduce = tangent.inverse[free]
    return Linearization(
        A=reduce @ (by_state[:ny] - tangent.drift(start)) @ among,
        B=reduce @ by_input[:ny],
        C=by_state[ny:] @ among,
        D=by_input[ny:],
        states=[tangent.names[i] for i in free],
        inputs=_names(values),
        outputs=_names({path: np.asarray(system.read(start, path)) for path in output_paths}),
        time=start.time,
    )


def _expanded(system: cosim.System, patterns: Sequence[str]) -> list[str]:
    """Paths, where patterns stand for all real variables that match."""
    paths: list[str] = []
    for pattern in patterns:
        matching = [pattern]
        if is_pattern(pattern):
            matching = [path for path in system.variables if matches(path, pattern)]
            if not matching:
                raise cosim.LookUpError("signal", pattern, system.variables)
        paths += [path for path in matching if path not in paths]
    return paths


def _input(system: cosim.System, state: cosim.State, path: str) -> Array:
    """The value of what may be changed."""
    kind = system.signal(path).declaration.kind
    if kind not in ("input", "parameter", "discrete"):
        raise ValueError(
            f"{path}: a {kind} is no input of a linear system; inputs, parameters and discretes are"
        )
    return np.asarray(system.read(state, path), dtype=float)


def _output(system: cosim.System, state: cosim.State, path: str) -> None:
    try:
        np.asarray(system.read(state, path), dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{path}: no real signal, so it is no output of a linear system") from None


def _shaped(like: Array, flat: Array) -> Any:
    return flat.reshape(like.shape) if like.shape else float(flat[0])


def _names(values: dict[str, Array]) -> list[str]:
    return [
        path if value.size == 1 else f"{path}[{i}]"
        for path, value in values.items()
        for i in range(value.size)
    ]
