"""The equations of constraints with numbers in them, for a State."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_dynamics.equations_of_constraints import offered_name, written_equations
from cosim_dynamics.sval import SVal
from cosim_dynamics.symbol_kernel import TIME
from cosim_dynamics.tree_motion import TreeMotion
from cosim_mechanics import contracts

Array = NDArray[np.float64]


def constraint_equations(
    system: cosim.System, state: cosim.State, constraint: str | contracts.Constraint
) -> list[SVal]:
    """The result of a constraint's ``create_constraint_equations``, called with numbers.

    Law: each is G u_dot + b, with the row G of the Jacobian as coefficients and b as constant. The method
    that is traced for the compiled equations is called once more, with the numbers of a State: a breakpoint
    in it shows them.

    Parameters
    ----------
    system : System
    state : State
        Realized to VELOCITY at least.
    constraint : str or Constraint
        The constraint or its name; one that is off has equations as well.

    Returns
    -------
    list of SVal
        Their degrees of freedom are counted as in ``state.u``.

    Raises
    ------
    StageError
        When the State is not realized to VELOCITY.
    LookUpError
        No constraint has this name, with the nearest one.

    Examples
    --------
    >>> import cosim
    >>> from cosim_mechanics import Multibody
    >>> model = Multibody("winch")
    >>> for name in ("drum", "hook"):
    ...     body = model.body(name, mass=1.0, inertia=(0.1, 0.1, 0.1))
    >>> drum = model.joint("pin", child="drum")
    >>> hook = model.joint("slider", child="hook")
    >>> rope = model.constraint("gear", "rope", coordinate1=drum, coordinate2=hook, ratio=0.2)
    >>> system = model.build()
    >>> state = system.default_state().realize(cosim.Stage.VELOCITY)
    >>> (equation,) = constraint_equations(system, state, "rope")
    >>> equation.row(2).tolist(), equation.bias, equation.evaluate([5.0, 1.5])
    ([-0.2, 1.0], 0.0, 0.5)
    """
    name = constraint if isinstance(constraint, str) else constraint.name
    part = system.parts.get(name)
    if not isinstance(part, contracts.Constraint):
        raise cosim.LookUpError("constraint", name, [n for n, p in system.parts.items() if _is_constraint(p)])
    motion = TreeMotion(system, state)
    assembly = system.assembly
    arrays = dict(zip("ypdkhc", system.arrays(state), strict=True))
    biases = motion.biases()

    def known(name: str, element: int) -> float:
        if name == TIME:
            return state.time
        slot = assembly.slot_of_argument(part, name)
        return float(arrays[slot.array][slot.offset + element])

    def unknown(attachment: str, element: int) -> SVal:
        if part.declarations[attachment].options["provides"] == "coordinate":
            speed = assembly.slot_of_argument(part, offered_name("u", attachment, "coordinate"))
            return SVal.acceleration(speed.offset - system.nq)
        link = motion.index(assembly.attached(part, attachment))
        origin = motion.pose(link).origin
        row = motion.jacobian(link, origin)[element]
        bias = motion.bias_at(link, origin, biases)[element]
        return SVal(float(bias), {int(i): float(row[i]) for i in np.flatnonzero(row)})

    return written_equations(part, known, unknown)


def constraint_jacobian(system: cosim.System, state: cosim.State) -> Array:
    """The Jacobian G of G u_dot + b = 0, shape (equations, nu): the constraints that are on, in order.

    Parameters
    ----------
    system : System
    state : State
        Realized to VELOCITY at least.
    """
    rows = [equation.row(system.nu) for equation in _all(system, state)]
    return np.array(rows, dtype=float).reshape(len(rows), system.nu)


def constraint_bias(system: cosim.System, state: cosim.State) -> Array:
    """The constants b of G u_dot + b = 0, shape (equations,): the constraints that are on, in order.

    Parameters
    ----------
    system : System
    state : State
        Realized to VELOCITY at least.
    """
    return np.array([equation.bias for equation in _all(system, state)], dtype=float)


def _all(system: cosim.System, state: cosim.State) -> list[SVal]:
    on = [n for n, p in system.parts.items() if _is_constraint(p) and state[f"{n}.enabled"]]
    return [equation for name in on for equation in constraint_equations(system, state, name)]


def _is_constraint(part: cosim.Component) -> bool:
    return isinstance(part, contracts.Constraint)
