"""A model of bodies and joints for the tests of a constraint."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

import cosim
from cosim.testing.drawn_values import Values, drawn_values, write_values
from cosim_mechanics.testing.force_bench import BODY, Bench, Placed

Vector = NDArray[np.float64]
COMMON_PARAMETERS = ("enabled", "stabilization")
"""Parameters of every constraint, which are not drawn at random."""


class ConstraintBench(Bench):
    """Free bodies, a hinged one that carries one on a slide, and copies of a constraint, without gravity.

    Bodies and joints come from the registry, by id. Bodies that the constraint leaves open are ``a``, ``b``
    and, from the third on, ``free3`` …, in the order of their declaration; coordinates ``joint_c`` (a pin),
    ``joint_d`` (a slider on its body) and ``joint_turned3`` … (pins); sources a sinusoid.

    Parameters
    ----------
    constraint : Constraint
    copies : int
        How many of it, as parts ``constraint0`` …
    projected : bool
        Whether positions and speeds are corrected.
    """

    def __init__(self, constraint: Any, copies: int = 1, projected: bool = True) -> None:
        model = cosim.Model("bench")
        model.add("mechanics.ground", "ground")
        model.add("mechanics.gravity", "gravity", gravity=(0.0, 0.0, 0.0))
        declared = type(constraint).declarations.values()
        kinds = [d.options["provides"] for d in declared if d.kind == "attachment"]
        self.free = ["a", "b", *(f"free{i}" for i in range(3, kinds.count("body") + 1))]
        self.turned = ["c", "d", *(f"turned{i}" for i in range(3, kinds.count("coordinate") + 1))]
        joints = [("free", "ground")] * len(self.free) + [("pin", "ground"), ("slider", "c")]
        joints += [("pin", "ground")] * (len(self.turned) - 2)
        for name, (joint, parent) in zip([*self.free, *self.turned], joints, strict=True):
            model.add("mechanics.rigid_body", name, **BODY)
            model.add(f"mechanics.{joint}", f"joint_{name}", parent=parent, child=name)
        values = self._attached(constraint)
        if "wave" in values.values():
            model.measure("measures.sinusoid", "wave", amplitude=0.3, frequency=0.5, phase=0.4)
        for i in range(copies):
            model.add(type(constraint), f"constraint{i}", **values, projected=projected)
        self.model, self.copies = model, copies
        self.system = model.build()
        self._start = self.system.default_state().y.copy()

    def _attached(self, constraint: Any) -> dict[str, Any]:
        values = {name: value for name, value in constraint.values.given.items() if name != "projected"}
        places = {
            "body": iter(self.free),
            "coordinate": (f"joint_{name}" for name in self.turned),
            "source": itertools.repeat("wave"),
        }
        for name, declaration in type(constraint).declarations.items():
            if declaration.kind == "attachment" and name not in values:
                values[name] = next(places[declaration.options["provides"]])
        return values

    def between_bodies(self) -> bool:
        """Whether the constraint acts on two or more free bodies and on nothing else."""
        declarations = type(self.system.parts["constraint0"]).declarations.items()
        places = [self.place(name) for name, d in declarations if d.kind == "attachment"]
        return len(places) > 1 and set(places) <= set(self.free)

    def state(self, seed: int, angle: float, distance: float, speed: float, values: int = 0) -> cosim.State:
        """A random motion in these ranges, at a random time, not realized; the same for each seed.

        All copies have the `drawn_values` of the seed `values`, except `COMMON_PARAMETERS`.
        """
        random = np.random.default_rng(seed)
        y = self._start.copy()
        for name in self.free:
            turn, position, w, v = (
                tuple(random.uniform(-size, size, 3).tolist())
                for size in (angle / np.sqrt(3.0), distance, speed, speed)
            )
            placed = Placed(turn, position, w, v)
            self.put(y, f"joint_{name}", [*placed.quaternion, *position], [*w, *v])
        for name in self.turned:
            q, u = random.uniform(-angle, angle), random.uniform(-speed, speed)
            self.put(y, f"joint_{name}", [q], [u])
        state = self.system.default_state()
        times = (1.0, 10.0) if seed % 2 else (0.0, 1.0)
        state.set_time(float(random.uniform(*times)))
        state.set_y(y)
        drawn = self.values(state, values) if values and self.copies else {}
        for i in range(self.copies):
            write_values(state, f"constraint{i}", drawn)
        return state

    def values(self, state: cosim.State, seed: int, parameters: bool = True) -> Values:
        """The constraint's `drawn_values`, except `COMMON_PARAMETERS`; all of them, or without parameters."""
        declared = self.system.parts["constraint0"].declarations
        return {
            name: value
            for name, value in drawn_values(state, "constraint0", seed).items()
            if name not in COMMON_PARAMETERS and (parameters or declared[name].kind != "parameter")
        }

    def moved(self, state: cosim.State, turn: Any, by: Any) -> tuple[cosim.State, Vector]:
        """The motion with all free bodies turned about Ground's origin and shifted, and the rotation."""
        rotation = Placed(turn=turn).rotation
        R = rotation.as_matrix()
        y = state.y.copy()
        for name in self.free:
            X, V = state[f"{name}.X_GB"], state[f"{name}.V_GB"]
            orientation = Rotation.from_quat(np.roll(state[f"joint_{name}.q"][:4], -1))
            quaternion = np.roll((rotation * orientation).as_quat(), 1)
            self.put(
                y, f"joint_{name}", [*quaternion, *(R @ X[9:] + np.asarray(by))], [*(R @ V[:3]), *(R @ V[3:])]
            )
        moved = state.copy()
        moved.set_y(y)
        return moved, R

    def forces(self, state: cosim.State) -> dict[str, Vector]:
        """The forces of all copies together, by the attachment's name."""
        state.realize(cosim.Stage.ACCELERATION)
        names = [n for n in type(self.system.parts["constraint0"]).declarations if n.startswith("force_on_")]
        return {
            name.removeprefix("force_on_"): np.sum(
                [np.atleast_1d(state[f"constraint{i}.{name}"]) for i in range(self.copies)], axis=0
            )
            for name in names
        }

    def place(self, attachment: str) -> str:
        """The body or coordinate that an attachment of the first constraint is on."""
        place = self.system.parts["constraint0"].values.attachments[attachment]
        return str(getattr(place, "name", place))

    def power(self, state: cosim.State) -> tuple[float, float]:
        """The power of the first constraint, W, and the sum of the magnitudes of its terms."""
        forces = self.forces(state)
        total = size = 0.0
        for name, force in forces.items():
            place = self.place(name)
            if force.size == 6:
                velocity = np.asarray(state[f"{place}.V_GB"])
            else:
                joint, _, index = place.partition("[")
                velocity = np.atleast_1d(state[f"{joint}.u"])[[int(index.rstrip("]") or 0)]]
            total += float(force @ velocity)
            size += float(np.abs(force) @ np.abs(velocity))
        return total, size

    def errors(self, state: cosim.State, error: str) -> Vector:
        """``position_error`` or ``velocity_error`` of the first one."""
        state.realize(cosim.Stage.ACCELERATION)
        return np.array(np.atleast_1d(state[f"constraint0.{error}"]))

    def jacobian(self, state: cosim.State) -> tuple[Vector, Vector]:
        """Jacobian and constants of the equations of the first one, from `Constraint.calc_equations`."""
        part: Any = self.system.parts["constraint0"]
        equations = part.calc_equations(state)
        rows = np.array([equation.row(self.system.nu) for equation in equations])
        return rows, np.array([equation.bias for equation in equations], dtype=float)

    def computed(self, state: cosim.State) -> list[str]:
        """All that the first constraint computes, and the accelerations, as text, to the last bit."""
        written = self.written(state, "constraint0")
        return [f"u_dot: {state.y_dot.tobytes().hex()}", *written]
