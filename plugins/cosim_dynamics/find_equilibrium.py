"""Static equilibrium: a State at rest in which nothing accelerates."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_dynamics.free_directions import holds, null_space, velocity_jacobian
from cosim_dynamics.tangent import Tangent, elements_of_y, slopes

Array = NDArray[np.float64]
ITERATIONS = 300
FIRST_TIME = 0.05
"""Length of the first pseudo-time step, s2 (the accelerations are taken as rates)."""
LARGEST_TURN = 0.4
"""Of one iteration, rad."""
SMALL = 1e-11
"""Of the last correction, in rad, m … and parts of what is larger."""
DIGITS = 15
"""After the point, of start values."""
NEGATIVE = 1e-9
"""Of the largest stiffness: what is below it with the other sign is not rounding."""
SETTLED = 1e-7
"""Of the accelerations that remain, in parts of the largest one met."""


def equilibrium(system: cosim.System, state: cosim.State | None = None) -> cosim.State:
    """The State at rest in which nothing accelerates and no auxiliary state changes.

    Law: u_dot(q, 0, z) = 0 and z_dot = 0, solved for displacements along the speeds and z by pseudo-transient
    continuation: (1/h - J) dx = (u_dot, z_dot), where h grows as what remains gets smaller. For small h this
    creeps downhill, for large h it is Newton's method, which converges quadratically. Beside an unstable
    equilibrium, where J has eigenvalues of the other sign, these are turned: the search leaves it, and comes
    to rest in a stable one. It returns an unstable one only if it begins there exactly, which
    ``linearize(system, found).growing()`` tells. Inputs, parameters and discrete variables keep their
    values; auxiliary states that nothing
    depends on (energies, integrals for display) are left alone.

    Parameters
    ----------
    system : System
    state : State, optional
        Where the search begins, by default the default State. It is not changed.

    Returns
    -------
    State
        Speeds zero, realized to ACCELERATION.

    Raises
    ------
    SimulationError
        When there is none within reach, with the name of the state that does not settle.

    References
    ----------
    C.T. Kelley and D.E. Keyes, Convergence analysis of pseudo-transient continuation, 1998.

    Examples
    --------
    >>> import cosim
    >>> from cosim_mechanics import Multibody
    >>> model = Multibody("pendulum", gravity=(0, -9.81, 0))
    >>> body = model.body("rod", mass=1.0, center_of_mass=(1, 0, 0), inertia=(0, 0.1, 0.1))
    >>> joint = model.joint("pin", name="hinge", child=body, q=0.3)
    >>> found = equilibrium(model.build())
    >>> print(round(found["hinge.q"][0], 9))
    -1.570796327
    """
    at_rest = (system.default_state() if state is None else state).copy()
    at_rest.set_u(np.zeros(system.nu))
    cosim.assemble(system, at_rest)
    searched = _searched(system)
    if not system.nu and not searched:
        return at_rest.realize(cosim.Stage.ACCELERATION)
    closed = holds(system)
    residual = _remaining(at_rest, searched)
    largest, time = _size(residual), FIRST_TIME
    for _ in range(ITERATIONS):
        tangent = Tangent(at_rest)
        keep = np.concatenate([tangent.displacements, _places(tangent, searched)])
        turns = tangent.turns[keep]
        J = _slopes(at_rest, tangent, keep, searched)
        if closed:
            step, is_leaving = _free_step(at_rest, tangent, keep, J, residual, time)
        else:
            step, is_leaving = _downhill(-J, residual, time)
        if turns.any():
            step /= max(1.0, abs(step[turns]).max() / LARGEST_TURN)
        x = np.zeros(len(tangent.names))
        x[keep] = step
        y = np.array(at_rest.y)
        at_rest.set_y(tangent.moved(y, x))
        cosim.assemble(system, at_rest)
        after = _remaining(at_rest, searched)
        if not np.isfinite(after).all():
            at_rest.set_y(y)
            time *= 0.1
            continue
        before, now = _size(residual), _size(after)
        residual, largest = after, max(largest, now)
        if not (is_leaving and now > before):  # accelerations grow beside an unstable equilibrium
            time *= float(np.clip(before / now if now else 10.0, 0.1, 10.0))
        scale = np.maximum(1.0, abs(tangent.inverse @ y)[keep]) if len(keep) else np.ones(0)
        settled = now <= SETTLED * max(largest, 1.0)
        if settled and (abs(step) <= SMALL * scale).all():
            return at_rest
        if settled:
            time *= 1e3  # near: Newton's method finishes
    raise cosim.SimulationError(at_rest.time, _unsettled(at_rest, searched, residual))


def _free_step(
    state: cosim.State, tangent: Tangent, keep: NDArray[np.int64], J: Array, residual: Array, time: float
) -> tuple[Array, bool]:
    """The step toward equilibrium in the directions that constraints leave free; whether it is determined.

    Speeds have these directions, and displacements are the rates of coordinates at such speeds.
    """
    system, nu = state.system, state.system.nu
    speeds, other_states = null_space(velocity_jacobian(state)), len(residual) - nu
    probe, rates = state.copy(), []
    for direction in speeds.T:
        probe.set_u(direction)
        y_dot = probe.realize(cosim.Stage.ACCELERATION).y_dot.copy()
        y_dot[system.nq :] = 0.0
        rates.append((tangent.inverse @ y_dot)[keep])
    moves = np.hstack(
        [np.array(rates).T.reshape(len(keep), -1), np.eye(len(keep), other_states, other_states - len(keep))]
    )
    weights = np.block(
        [
            [speeds.T, np.zeros((speeds.shape[1], other_states))],
            [np.zeros((other_states, nu)), np.eye(other_states)],
        ]
    )
    step, is_leaving = _downhill(-weights @ J @ moves, weights @ residual, time)
    moved: Array = moves @ step
    return moved, is_leaving


def _downhill(stiffness: Array, residual: Array, time: float) -> tuple[Array, bool]:
    """The step x of (1/time + stiffness) x = residual, away from where the stiffness is negative.

    Newton's method goes to the nearest equilibrium, stable or not; with eigenvalues of the other sign it
    leaves an unstable one. The second value says whether there are such eigenvalues.
    """
    values, directions = np.linalg.eig(stiffness)
    is_leaving = bool((values.real < -NEGATIVE * abs(values).max(initial=0.0)).any())
    values = np.where(values.real < 0.0, -values, values)
    parts = np.linalg.lstsq(directions, residual.astype(complex), rcond=None)[0]
    step: Array = (directions @ (parts / (1.0 / time + values))).real
    return step, is_leaving


def start_values(state: cosim.State) -> dict[str, list[float] | float]:
    """Coordinates of a State by path, and auxiliary states that differ from the model's own start values.

    Returns
    -------
    dict of str to float or list of float
        For ``model.set_start``, or the table [starts] of a model file.
    """
    default = state.system.default_state()
    values: dict[str, list[float] | float] = {}
    for path, variable in state.system.variables.items():
        if variable.slot.array != "y" or variable.kind not in ("position", "auxiliary"):
            continue
        value = np.asarray(state[path], dtype=float)
        if variable.kind == "position" or not np.array_equal(value, np.asarray(default[path])):
            values[path] = value.round(DIGITS).tolist()
    return values


def _searched(system: cosim.System) -> list[int]:
    """Places in y of the auxiliary states that something depends on."""
    starts, _ = system.derivative_structure()
    return [k for k in range(system.nq + system.nu, system.ny) if starts[k] < starts[k + 1]]


def _places(tangent: Tangent, searched: list[int]) -> NDArray[np.int64]:
    """The places of some elements of y among the tangent's directions; each is a direction itself."""
    return np.array([int(np.argmax(abs(tangent.inverse[:, k]))) for k in searched], dtype=np.int64)


def _remaining(state: cosim.State, searched: list[int]) -> Array:
    """u_dot and the rates of the searched auxiliary states."""
    system = state.system
    y_dot = state.realize(cosim.Stage.ACCELERATION).y_dot
    return np.concatenate([y_dot[system.nq : system.nq + system.nu], y_dot[searched]])


def _slopes(state: cosim.State, tangent: Tangent, keep: NDArray[np.int64], searched: list[int]) -> Array:
    """How what remains changes; where that is not finite, as at a root of 0, it is a difference."""
    system = state.system
    places = [*range(system.nq, system.nq + system.nu), *searched]
    columns = [
        system.tangents.along(state, y=tangent.basis[:, k], last=cosim.Stage.ACCELERATION)[places]
        for k in keep
    ]
    exact = np.array(columns).reshape(len(keep), len(places)).T
    if np.isfinite(exact).all():
        return exact
    y, probe = np.array(state.y), state.copy()

    def remaining(step: Array) -> Array:
        x = np.zeros(len(tangent.names))
        x[keep] = step
        probe.set_y(y + tangent.basis @ x)
        return _remaining(probe, searched)

    return slopes(remaining, np.ones(len(keep)))


def _size(residual: Array) -> float:
    return float(np.linalg.norm(residual))


def _unsettled(state: cosim.State, searched: list[int], residual: Array) -> str:
    system = state.system
    worst = int(np.argmax(np.where(np.isfinite(residual), abs(residual), np.inf)))
    places = [*range(system.nq, system.nq + system.nu), *searched]
    name, unit = elements_of_y(system)[places[worst]]
    return (
        f"no static equilibrium found in {ITERATIONS} iterations: {name} does not settle, its rate is still "
        f"{residual[worst]:.6g} ({unit} per second). Something that holds it is missing, or the search began "
        "too far away: give start values nearer to the equilibrium"
    )
