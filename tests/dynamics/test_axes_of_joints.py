"""Joints that declare the axes of their speeds cost less work and give the same motion."""

from __future__ import annotations

import math

import numpy as np
import pytest

import cosim
import cosim_mechanics
from cosim_mechanics import Multibody

KINDS = ("pin", "slider", "free", "ball", "cylinder", "planar", "translation")
AT_ORIGIN = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]


def joint(kind: str) -> type[cosim_mechanics.Joint]:
    """Return the framework's class of a joint."""
    return cosim.registry().get("joint", f"mechanics.{kind}")


def without_axes(kind: str) -> type[cosim_mechanics.Joint]:
    """Return the same joint without declared axes."""
    cls = joint(kind)
    return type(f"General{cls.__name__}", (cls,), {"__doc__": cls.__doc__, "axes": None})


def frame(rng: np.random.Generator, kind: str) -> list[float]:
    """Return the pose of a frame: at the body's "origin", "shifted", or shifted and "turned"."""
    a, b = rng.uniform(-1.0, 1.0, 2)
    turn = np.array([[math.cos(a), -math.sin(a), 0], [math.sin(a), math.cos(a), 0], [0, 0, 1]])
    tilt = np.array([[1, 0, 0], [0, math.cos(b), -math.sin(b)], [0, math.sin(b), math.cos(b)]])
    rotation = (turn @ tilt).ravel().tolist() if kind == "turned" else AT_ORIGIN
    return [*rotation, *(rng.normal(size=3).tolist() if kind != "origin" else [0.0, 0.0, 0.0])]


def tree(joints: list[type[cosim_mechanics.Joint]], solver: str) -> cosim.State:
    """Return a chain of three links for each joint, with frames of all kinds, in random motion."""
    rng = np.random.default_rng(11)
    model = Multibody("tree", gravity=(0.7, -3.0, -9.0), dynamics=solver)
    for i, cls in enumerate(joints):
        previous = "ground"
        for j, (inner, outer) in enumerate(
            (("shifted", "origin"), ("shifted", "origin"), ("turned", "turned"))
        ):
            inertia = np.diag([0.3, 0.4, 0.5]) + 0.02 * (j > 0)
            name = f"link{i}{j}"
            model.body(name, mass=1.0 + 0.1 * i, center_of_mass=rng.normal(size=3), inertia=inertia)
            frames = {"frame_on_parent": frame(rng, inner), "frame_on_child": frame(rng, outer)}
            model.add(cls, f"joint{i}{j}", parent=previous, child=name, **frames)
            previous = name
    system = model.build()
    state = system.default_state()
    state.set_q(state.q + rng.uniform(-0.7, 0.7, system.nq))
    state.set_u(rng.uniform(-2.0, 2.0, system.nu))
    return state.realize(cosim.Stage.ACCELERATION)


@pytest.mark.parametrize("solver", ["dynamics.articulated_body", "dynamics.composite_rigid_body"])
def test_declared_axes_do_not_change_the_motion(solver: str) -> None:
    declared = tree([joint(kind) for kind in KINDS], solver)
    general = tree([without_axes(kind) for kind in KINDS], solver)
    for i in range(len(KINDS)):
        for j in range(3):
            for name in ("X_GB", "V_GB", "A_GB"):
                path = f"link{i}{j}.{name}"
                expected = np.asarray(general[path])
                assert np.allclose(declared[path], expected, rtol=1e-11, atol=1e-10 * abs(expected).max()), (
                    path
                )


def test_a_subclass_that_overrides_across_inherits_no_axes() -> None:
    class Offset(joint("pin")):
        """M turns about z of F at an arm. Law: p_FM = (cos q, sin q, 0)."""

        @cosim.kernel
        def across(q, X_FM, H_FM):
            s, c = math.sin(q[0]), math.cos(q[0])
            for i in range(12):
                X_FM[i] = 0.0
            X_FM[0] = X_FM[4] = X_FM[9] = c
            X_FM[3] = X_FM[10] = s
            X_FM[1] = -s
            X_FM[8] = 1.0
            for i in range(6):
                H_FM[i] = 0.0
            H_FM[2] = 1.0
            H_FM[3] = -s
            H_FM[4] = c

        @cosim.kernel
        def rates(q, u, q_dot, HDotU_FM):
            q_dot[0] = u[0]
            for i in range(6):
                HDotU_FM[i] = 0.0
            HDotU_FM[3] = -math.cos(q[0]) * u[0] * u[0]
            HDotU_FM[4] = -math.sin(q[0]) * u[0] * u[0]

    assert joint("pin").axes == (2,) and Offset.axes is None
    with pytest.raises(cosim.ContractError, match=r"= \(2,\).*across writes H_FM"):
        type("Promising", (Offset,), {"__doc__": Offset.__doc__, "axes": (2,)})


@pytest.mark.parametrize("axes", [(), (2, 5), (6,), (-1,)])
def test_axes_that_do_not_fit_the_speeds_are_refused(axes: tuple[int, ...]) -> None:
    cls = joint("pin")
    with pytest.raises(cosim.ContractError, match="one for each speed"):
        type("Wrong", (cls,), {"__doc__": cls.__doc__, "axes": axes})


def test_a_constant_offset_of_a_pin_is_kept() -> None:
    """A declared axis allows a constant translation in X_FM."""

    class RaisedPin(joint("pin")):
        """As a pin, M a metre above F. Law: p_FM = (0, 0, 1)."""

        axes = (2,)

        @cosim.kernel
        def across(q, X_FM, H_FM):
            s, c = math.sin(q[0]), math.cos(q[0])
            for i in range(12):
                X_FM[i] = 0.0
            X_FM[0] = X_FM[4] = c
            X_FM[1] = -s
            X_FM[3] = s
            X_FM[8] = X_FM[11] = 1.0
            for i in range(6):
                H_FM[i] = 0.0
            H_FM[2] = 1.0

    state = tree([RaisedPin], "dynamics.articulated_body")
    general_class = type("GeneralRaisedPin", (RaisedPin,), {"__doc__": RaisedPin.__doc__, "axes": None})
    general = tree([general_class], "dynamics.articulated_body")
    X = [np.asarray(state[f"link0{j}.X_GB"]).reshape(-1) for j in (0, 1)]
    assert not np.allclose(X[1][9:], X[0][9:])
    for name in ("link01.X_GB", "link02.A_GB"):
        assert np.allclose(state[name], general[name], rtol=1e-12, atol=1e-12)
