"""Static equilibrium of a model: prints the table [starts] of engine_mount.toml."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import cosim
from cosim_workbench import ModelFile

HERE = Path(__file__).parent
ITERATIONS = 20
INCREMENT = 1e-6  # of the coordinates, for central differences
SMALL = 1e-12  # of the last correction, rad and m
DIGITS = 15  # after the point


def acceleration(state: cosim.State) -> np.ndarray:
    """The accelerations u_dot of a State, shape (nu,)."""
    nq, nu = state.system.nq, state.system.nu
    return state.realize(cosim.Stage.ACCELERATION).y_dot[nq : nq + nu].copy()


def directions(state: cosim.State) -> np.ndarray:
    """How the coordinates change with each speed: q_dot = N u, shape (nq, nu)."""
    system = state.system
    columns = []
    for unit in np.eye(system.nu):
        state.set_u(unit)
        columns.append(state.realize(cosim.Stage.ACCELERATION).y_dot[: system.nq].copy())
    state.set_u(np.zeros(system.nu))
    return np.column_stack(columns)


def static_equilibrium(system: cosim.System) -> cosim.State:
    """The State at rest in which nothing accelerates, by Newton's method.

    The unknowns are small turns and shifts along the generalized speeds, so that a quaternion needs no
    condition of its own.

    Parameters
    ----------
    system : System
        Its default State is where the search begins.

    Returns
    -------
    State

    Raises
    ------
    SimulationError
        The search did not come to an end.
    """
    state = system.default_state()
    state.set_u(np.zeros(system.nu))
    for _ in range(ITERATIONS):
        residual, start, along = acceleration(state), state.q.copy(), directions(state)
        slopes = []
        for column in along.T:
            state.set_q(start + INCREMENT * column)
            after = acceleration(state)
            state.set_q(start - INCREMENT * column)
            slopes.append((after - acceleration(state)) / (2.0 * INCREMENT))
        correction = np.linalg.solve(np.column_stack(slopes), -residual)
        state.set_q(start + along @ correction)
        if np.abs(correction).max() < SMALL:
            return state
    raise cosim.SimulationError(state.time, f"no static equilibrium found in {ITERATIONS} iterations")


def starts(state: cosim.State) -> dict[str, list[float]]:
    """Coordinates of all joints by path; quaternions have length 1 again."""
    found = {}
    for name, part in state.system.parts.items():
        if isinstance(part, cosim.Joint):
            q = np.array(state[f"{name}.q"], dtype=float)
            if q.size == 7:
                q[:4] /= np.linalg.norm(q[:4])
            found[f"{name}.q"] = q.round(DIGITS).tolist()
    return found


if __name__ == "__main__":
    model = ModelFile.read(sys.argv[1] if len(sys.argv) > 1 else HERE / "engine_mount.toml")
    for path, values in starts(static_equilibrium(model.build())).items():
        print(f"{path} = {values}")
