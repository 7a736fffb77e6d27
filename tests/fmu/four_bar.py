"""A four-bar linkage of two systems: crank and coupler, and the rocker, joined by a stiff bushing."""

import math

import numpy as np

import cosim
from cosim_mechanics import Multibody

CRANK, COUPLER, ROCKER, GROUND = 0.4, 1.0, 0.8, 1.0
START = 1.0
"""The angle of the crank at the start, rad."""
ENDS = {"coupler": COUPLER, "rocker": ROCKER}
MOTION = ("x", "y", "vx", "vy")


class PinnedPoints(cosim.Component):
    """A stiff spring and a damper that hold two points of a plane together."""

    x1 = cosim.input(unit="m")
    y1 = cosim.input(unit="m")
    vx1 = cosim.input(unit="m/s")
    vy1 = cosim.input(unit="m/s")
    x2 = cosim.input(unit="m")
    y2 = cosim.input(unit="m")
    vx2 = cosim.input(unit="m/s")
    vy2 = cosim.input(unit="m/s")
    stiffness = cosim.parameter(unit="N/m", default=2e4)
    damping = cosim.parameter(unit="N.s/m", default=200.0)
    fx1 = cosim.output(unit="N")
    fy1 = cosim.output(unit="N")
    fx2 = cosim.output(unit="N")
    fy2 = cosim.output(unit="N")

    @cosim.kernel
    def along_x(x1, vx1, x2, vx2, stiffness, damping, fx1, fx2):
        fx1[0] = stiffness * (x2 - x1) + damping * (vx2 - vx1)
        fx2[0] = -fx1[0]

    @cosim.kernel
    def along_y(y1, vy1, y2, vy2, stiffness, damping, fy1, fy2):
        fy1[0] = stiffness * (y2 - y1) + damping * (vy2 - vy1)
        fy2[0] = -fy1[0]


def closed_angles(crank: float) -> tuple[float, float]:
    """The absolute angles of coupler and rocker for which their ends meet."""
    bx, by = CRANK * math.cos(crank), CRANK * math.sin(crank)
    dx, dy = GROUND - bx, -by
    gap = math.hypot(dx, dy)
    corner = math.acos((COUPLER**2 + gap**2 - ROCKER**2) / (2.0 * COUPLER * gap))
    coupler = math.atan2(dy, dx) + corner
    ex, ey = bx + COUPLER * math.cos(coupler), by + COUPLER * math.sin(coupler)
    return coupler, math.atan2(ey, ex - GROUND)


def add_end(model: Multibody, body: str) -> None:
    """Add measures of the motion of a body's end, and forces on it."""
    tip = (ENDS[body], 0, 0)
    for axis in "xy":
        model.measure("mechanics.position", f"{body}_{axis}", of=body, axis=axis, station=tip)
        model.measure("mechanics.velocity", f"{body}_v{axis}", of=body, axis=axis, station=tip)
        model.add("mechanics.applied_force", f"{body}_f{axis}", body=body, axis=axis, station=tip)


def add_crank(model: Multibody) -> None:
    """Add crank and coupler, and the joint at the coupler's end."""
    coupler, _ = closed_angles(START)
    first = model.body("crank", mass=0.4, center_of_mass=(0.2, 0, 0), inertia=(0.001, 0.005, 0.005))
    second = model.body("coupler", mass=1.0, center_of_mass=(0.5, 0, 0), inertia=(0.001, 0.083, 0.083))
    model.joint("pin", child=first, q=START)
    model.joint("pin", parent=first, child=second, frame_on_parent=[CRANK, 0, 0], q=coupler - START)
    add_end(model, "coupler")
    model.add(PinnedPoints, "joint")
    for name in MOTION:
        model.connect(f"coupler_{name}", f"joint.{name}1")
    for axis in "xy":
        model.connect(f"joint.f{axis}1", f"coupler_f{axis}.force")


def add_rocker(model: Multibody) -> None:
    """Add the rocker."""
    body = model.body("rocker", mass=0.8, center_of_mass=(0.4, 0, 0), inertia=(0.001, 0.043, 0.043))
    model.joint("pin", child=body, frame_on_parent=[GROUND, 0, 0], q=closed_angles(START)[1])
    add_end(model, "rocker")


def multibody(name: str) -> Multibody:
    return Multibody(name, gravity=[0, -9.81, 0])


ACCURACY = 1e-9
UNTIL = 0.16
ANGLES = ("crank_joint.angle", "coupler_joint.angle", "rocker_joint.angle")


def whole() -> np.ndarray:
    """The angles at the end of a run of all parts as one system."""
    model = multibody("whole")
    add_crank(model)
    add_rocker(model)
    for name in MOTION:
        model.connect(f"rocker_{name}", f"joint.{name}2")
    for axis in "xy":
        model.connect(f"joint.f{axis}2", f"rocker_f{axis}.force")
    result = model.simulate(until=UNTIL, accuracy=ACCURACY, output_interval=UNTIL, signals=list(ANGLES))
    return np.array([result[name][-1] for name in ANGLES])
