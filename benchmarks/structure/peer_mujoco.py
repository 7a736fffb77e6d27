"""MuJoCo: steps of pairs of pendulums and of ladders; rods are equality constraints of tendons."""

import json
import sys
import time

import mujoco
import numpy as np

INTEGRATORS = {"pairs": mujoco.mjtIntegrator.mjINT_EULER, "ladder": mujoco.mjtIntegrator.mjINT_RK4}


def add_link(parent, name, x, y, at, q=0.0):
    """Add a link of 1 m on a hinge at (x, y) of its parent, turned by `q`, rad; its rod ends at (0, `at`)."""
    body = parent.add_body(name=name, pos=[x, y, 0.0], quat=[np.cos(q / 2.0), 0.0, 0.0, np.sin(q / 2.0)])
    body.explicitinertial = True
    body.mass, body.ipos, body.inertia = 1.0, [0.0, -0.5, 0.0], [1 / 12, 0.01, 1 / 12]
    body.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0.0, 0.0, 1.0])
    body.add_site(name=name, pos=[0.0, at, 0.0])
    return body


def model_of(case, count, q, step):
    """The model of loops.py; a rod is a tendon of constant length between two links."""
    spec = mujoco.MjSpec()
    spec.option.gravity = [0.0, -9.81, 0.0]
    spec.option.timestep, spec.option.integrator = step, INTEGRATORS[case]
    spec.option.disableflags = int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    carriers = {"left": spec.worldbody, "right": spec.worldbody}
    for i in range(count):
        for side, x in (("left", 0.0), ("right", 1.0)):
            if case == "pairs":
                add_link(spec.worldbody, f"{side}{i}", 3.0 * i + x, 0.0, -1.0, q)
            else:
                place = (x, 0.0, -0.5, q) if i == 0 else (0.0, -1.0, -0.5)
                carriers[side] = add_link(carriers[side], f"{side}{i}", *place)
        rod = spec.add_tendon(name=f"rod{i}")
        rod.wrap_site(f"left{i}")
        rod.wrap_site(f"right{i}")
        spec.add_equality(type=mujoco.mjtEq.mjEQ_TENDON, name1=f"rod{i}")
    return spec.compile()


def main():
    """Print the least CPU time of a step, s, of each mechanism and size."""
    request = json.loads(sys.argv[1])
    rows = []
    for case, count in request["cases"]:
        model = model_of(case, count, request["q"][case], request["step"])
        data = mujoco.MjData(model)
        best = np.inf
        for _ in range(request["rounds"]):
            start = time.process_time()
            mujoco.mj_step(model, data, nstep=request["steps"])
            best = min(best, (time.process_time() - start) / request["steps"])
        assert np.isfinite(data.qpos).all()
        rows.append([case, count, best])
    print(json.dumps({"version": mujoco.__version__, "rows": rows}))


main()
