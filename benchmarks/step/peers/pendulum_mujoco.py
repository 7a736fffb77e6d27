"""MuJoCo: the pendulum with steps of its Runge-Kutta method; nothing can touch. Rows are in a NumPy array.

In two ways: its roll-out, a loop in C that keeps every step, and a loop in Python with a call for each row.
"""

import json
import sys
from pathlib import Path

import mujoco
import numpy as np
from least import least
from mujoco import rollout

FULL = mujoco.mjtState.mjSTATE_FULLPHYSICS


def build(tree):
    """The tree as a model in which nothing but its joints, gravity and inertia counts."""
    spec = mujoco.MjSpec()
    spec.option.gravity = tree["gravity"]
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_RK4
    flag = mujoco.mjtDisableBit
    spec.option.disableflags = int(flag.mjDSBL_CONSTRAINT | flag.mjDSBL_CONTACT | flag.mjDSBL_EQUALITY)
    spec.option.disableflags |= int(flag.mjDSBL_SENSOR | flag.mjDSBL_ACTUATION | flag.mjDSBL_WARMSTART)
    parent = spec.worldbody
    for body in tree["bodies"]:
        parent = parent.add_body(pos=body["position"])
        parent.explicitinertial = True
        parent.mass, parent.ipos, parent.inertia = body["mass"], body["center"], body["inertia"]
        parent.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=body["axis"])
    return spec.compile()


def started(model, tree):
    """Data with all joints at the angle and the rate of the start."""
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = tree["q"], tree["u"]
    return data


def called_for_each_row(model, task, k):
    """Rows of angles and rates by a call for each row, of `k` steps."""
    data, n = started(model, task["tree"]), model.nv
    rows = np.empty((task["intervals"] + 1, 2 * n))
    rows[0, :n], rows[0, n:] = data.qpos, data.qvel
    for i in range(1, task["intervals"] + 1):
        mujoco.mj_step(model, data, nstep=k)
        rows[i, :n], rows[i, n:] = data.qpos, data.qvel
    return rows


def rolled_out(model, task, k):
    """The same rows by one roll-out, every `k`-th of its steps."""
    data = started(model, task["tree"])
    start = np.empty(mujoco.mj_stateSize(model, FULL))
    mujoco.mj_getState(model, data, start, FULL)
    states, _ = rollout.rollout(model, [data], start, nstep=k * task["intervals"])
    # time, angles, rates
    return np.vstack([start[None, 1:], states[0, k - 1 :: k, 1:]])


def main():
    """Print CPU time and end of the runs in both ways, with each number of steps a row."""
    task = json.loads(Path(sys.argv[1]).read_text())
    model = build(task["tree"])
    runs = []
    for k in task["steps_in_interval"]:
        model.opt.timestep = task["until"] / task["intervals"] / k
        for way in (rolled_out, called_for_each_row):
            seconds, rows = least(lambda way=way, k=k: way(model, task, k), task["runs"])
            runs.append(
                {
                    "method": f"RK4, {way.__name__.replace('_', ' ')}",
                    "tolerance": model.opt.timestep,
                    "seconds": seconds,
                    "rows": len(rows),
                    "end": rows[-1, : 2 * model.nv].tolist(),
                }
            )
    print(json.dumps({"name": f"MuJoCo {mujoco.__version__}", "runs": runs}))


main()
