"""MuJoCo: steps of its Euler integrator in its own loop in C, one evaluation each; nothing can touch."""

import json
import sys
import time
from pathlib import Path

import mujoco
import numpy as np


def build(tree):
    """The tree as a model with short steps in which nothing but joints, gravity and inertia counts."""
    spec = mujoco.MjSpec()
    spec.option.gravity = tree["gravity"]
    spec.option.timestep = 1e-9
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_EULER
    flag = mujoco.mjtDisableBit
    spec.option.disableflags = int(flag.mjDSBL_CONSTRAINT | flag.mjDSBL_CONTACT | flag.mjDSBL_EQUALITY)
    spec.option.disableflags |= int(flag.mjDSBL_SENSOR | flag.mjDSBL_ACTUATION | flag.mjDSBL_WARMSTART)
    bodies = []
    for body in tree["bodies"]:
        parent = spec.worldbody if body["parent"] < 0 else bodies[body["parent"]]
        one = parent.add_body(pos=body["position"])
        one.explicitinertial = True
        one.mass, one.ipos, one.inertia = body["mass"], body["center"], body["inertia"]
        if body["joint"] == "free":
            one.add_joint(type=mujoco.mjtJoint.mjJNT_FREE)
        else:
            one.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=body["axis"])
        bodies.append(one)
    return spec.compile()


def main():
    """Print the time of an evaluation and the accelerations of each tree of a JSON file."""
    answers = {}
    for tree in json.loads(Path(sys.argv[1]).read_text()):
        model = build(tree)
        data = mujoco.MjData(model)
        hinges = model.jnt_type == mujoco.mjtJoint.mjJNT_HINGE
        data.qpos[model.jnt_qposadr[hinges]] = tree["q"]
        data.qvel[model.jnt_dofadr[hinges]] = tree["u"]
        mujoco.mj_forward(model, data)
        # the order of MuJoCo is depth first, that of the file too
        udot = data.qacc[model.jnt_dofadr[hinges]].tolist()
        start_q, start_u = data.qpos.copy(), data.qvel.copy()
        count = max(50, 40000 // (1 + len(tree["bodies"])))
        times = []
        for _ in range(tree["rounds"]):
            data.qpos[:], data.qvel[:] = start_q, start_u
            start = time.perf_counter()
            mujoco.mj_step(model, data, nstep=count)
            times.append((time.perf_counter() - start) / count)
        assert np.isfinite(data.qacc).all()
        answers[tree["name"]] = {"seconds": min(times), "udot": udot}
    print(json.dumps({"version": mujoco.__version__, "trees": answers}))


main()
