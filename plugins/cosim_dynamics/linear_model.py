"""A linear system from a system and a State."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import is_pattern, matches
from cosim_dynamics.free_directions import independent
from cosim_dynamics.linearization import Linearization
from cosim_dynamics.tangent import Tangent, elements_of_y

Array = NDArray[np.float64]


def linearize(
    system: cosim.System,
    state: cosim.State | None = None,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
) -> Linearization:
    """Small changes about a State: dx/dt = A x + B u, y = C x + D u.

    Exact, by the tangents of kernel functions; ``system.tangents.differences`` names the parts that have
    none, of which differences are taken. What changes at events only is held, and so is what delays remember.
    About a State that moves, A holds for this instant.

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
        A name that stands for no real input, or for no real signal; a derivative that is not finite, as that
        of a root at 0.

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
    input_paths = list(system.inputs if inputs is None else inputs)
    output_paths = list(system.outputs) if outputs is None else _expanded(system, outputs)
    values = {path: _input(system, start, path) for path in input_paths}
    for path in output_paths:
        _output(system, start, path)

    ny, tangents = system.ny, system.tangents

    def response(by: dict[str, Array], direction: Array | None = None) -> Array:
        moved = tangents.moved(start, by, direction)
        return np.concatenate([moved["c"][:ny], tangents.read(moved, output_paths)])

    rows = [*(name for name, _ in elements_of_y(system)), *_names(_read(system, start, output_paths))]
    by_state = _beside([response({}, direction) for direction in tangent.basis.T], rows, tangent.names)
    units = [(path, unit) for path, value in values.items() for unit in np.eye(value.size)]
    by_input = _beside([response({path: unit}) for path, unit in units], rows, _names(values))
    free, among = independent(start, tangent)
    reduce = tangent.inverse[free]
    return Linearization(
        A=reduce @ (by_state[:ny] - tangent.drift(start)) @ among,
        B=reduce @ by_input[:ny],
        C=by_state[ny:] @ among,
        D=by_input[ny:],
        states=[tangent.names[i] for i in free],
        inputs=_names(values),
        outputs=rows[ny:],
        time=start.time,
    )


def _read(system: cosim.System, state: cosim.State, paths: Sequence[str]) -> dict[str, Array]:
    return {path: np.asarray(system.read(state, path)) for path in paths}


def _beside(columns: Sequence[Array], rows: Sequence[str], names: Sequence[str]) -> Array:
    """Columns as a matrix; `ValueError` where there is no derivative."""
    matrix = np.array(columns, dtype=float).reshape(len(columns), len(rows)).T
    for i, j in np.argwhere(~np.isfinite(matrix)):
        raise ValueError(
            f"{rows[i]} has no finite derivative by {names[j]} here: linearize about another State, or see "
            "cosim describe --derivatives for the parts between them"
        )
    return matrix


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
            f"{path}: a {kind} is not an input of a linear system; inputs, parameters and discretes are"
        )
    return np.asarray(system.read(state, path), dtype=float)


def _output(system: cosim.System, state: cosim.State, path: str) -> None:
    try:
        np.asarray(system.read(state, path), dtype=float)
    except (TypeError, ValueError):
        raise ValueError(
            f"{path}: is not a real signal, so it cannot be an output of a linear system"
        ) from None


def _names(values: dict[str, Array]) -> list[str]:
    return [
        path if value.size == 1 else f"{path}[{i}]"
        for path, value in values.items()
        for i in range(value.size)
    ]
