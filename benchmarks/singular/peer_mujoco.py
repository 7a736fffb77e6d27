"""MuJoCo: loops closed by equality constraints that are as stiff as a step allows, by Runge-Kutta 4."""

import json
import sys
import time

import mujoco
import numpy as np


def new_model(step):
    """A model without bodies, with steps of a length, s; its solver of constraints goes to its precision."""
    spec = mujoco.MjSpec()
    spec.option.gravity = [0, -9.81, 0]
    spec.option.timestep = step
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_RK4
    spec.option.tolerance = 1e-14
    spec.option.iterations = 200
    spec.option.enableflags = int(mujoco.mjtEnableBit.mjENBL_ENERGY)
    spec.option.disableflags = int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    return spec


def connect(spec, body1, body2, point, step):
    """Hold a point of body 1 to body 2 by a constraint with a time constant of two steps, the stiffest."""
    equality = spec.add_equality(
        type=mujoco.mjtEq.mjEQ_CONNECT, objtype=mujoco.mjtObj.mjOBJ_BODY, name1=body1, name2=body2
    )
    equality.data[:3] = point
    equality.solref = [2 * step, 1.0]
    equality.solimp = [0.9999, 0.9999, 0.001, 0.5, 2]


def four_bars(loops, step):
    """The N-four-bar mechanism at the angles 0, upright: a tree, whose loops `connect` closes."""
    spec = new_model(step)

    def link(parent, name, position, axes):
        body = parent.add_body(name=name, pos=position, quat=axes)
        body.explicitinertial = True
        body.mass, body.ipos, body.inertia = 1.0, [0.5, 0, 0], [1e-3, 1 / 12, 1 / 12]
        body.add_joint(name=name, type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0, 0, 1])
        return body

    half = np.sqrt(0.5)
    upright, level = [half, 0, 0, half], [half, 0, 0, -half]
    for i in range(loops + 1):
        rod = link(spec.worldbody, f"rod{i}", [i, 0, 0], upright)
        if i < loops:
            link(rod, f"coupler{i}", [1, 0, 0], level)
    for i in range(loops):
        connect(spec, f"coupler{i}", f"rod{i + 1}", [1, 0, 0], step)
    return spec.compile()


def bricard(corners, axes, step):
    """Bricard's mechanism of rods between these corners, m, with pins along these axes."""
    spec, parent = new_model(step), None
    edges = np.roll(corners, -1, axis=0) - corners
    for i in range(5):
        at = corners[0] if i == 0 else edges[i - 1]
        parent = (parent or spec.worldbody).add_body(name=f"rod{i}", pos=at)
        parent.explicitinertial = True
        parent.mass, parent.ipos = 1.0, edges[i] / 2
        parent.inertia = (1 - edges[i] ** 2) / 12 + 1e-9
        parent.add_joint(name=f"rod{i}", type=mujoco.mjtJoint.mjJNT_HINGE, axis=axes[i])
    for along in (-0.5, 0.5):  # two points of the last pin hold its axis
        connect(spec, "rod4", "world", edges[4] + along * axes[5], step)
    return spec.compile()


def run(model, request, step):
    """Angles at the points of the grid, rad, change of the energy, J, and time, s, of a run."""
    loops, grid = request["loops"], request["grid"]
    data = mujoco.MjData(model)
    for i in range(model.njnt if loops else 0):
        data.qvel[i] = -1.0 if model.joint(i).name.startswith("rod") else 1.0
    watched = [model.joint(f"rod{i}").qposadr[0] for i in (0, loops)]
    mujoco.mj_forward(model, data)
    energies, angles = [float(data.energy.sum())], [data.qpos[watched].tolist()]
    start = time.perf_counter()
    for _ in range(round(request["until"] / grid)):
        mujoco.mj_step(model, data, nstep=round(grid / step))
        angles.append(data.qpos[watched].tolist())
        energies.append(float(data.energy.sum()))
    seconds = time.perf_counter() - start
    turned = (np.array(angles) + request["start"]).tolist()
    return {"angles": turned, "energy": float(np.ptp(energies)), "time": seconds}


def main():
    """Print the runs with each step."""
    request = json.loads(sys.argv[1])
    runs = []
    for step in request["steps"]["mujoco"]:
        if request["loops"]:
            model = four_bars(request["loops"], step)
        else:
            model = bricard(np.array(request["corners"]), np.array(request["axes"]), step)
        runs.append({"name": f"step {step:g} s", **run(model, request, step)})
    print(json.dumps({"version": mujoco.__version__, "runs": runs}))


main()
