"""MuJoCo: building a binary tree of bodies on hinges, from an empty description to a compiled model."""

import json
import sys
import time

import mujoco
import numpy as np


def build(count):
    """A compiled model of a binary tree of `count` bodies."""
    spec = mujoco.MjSpec()
    bodies = [spec.worldbody]
    for i in range(count):
        parent = bodies[(i + 1) // 2]
        body = parent.add_body(name=f"body{i}", pos=[0.0, 0.0, 0.0 if i == 0 else -0.2])
        body.explicitinertial = True
        body.mass, body.ipos, body.inertia = 1.0, [0.0, 0.0, -0.1], [0.1, 0.1, 0.1]
        body.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0.0, 0.0, 1.0])
        bodies.append(body)
    return spec.compile()


def main():
    """Print the least CPU time of building a tree, s, for each size."""
    request = json.loads(sys.argv[1])
    times = []
    for count in request["sizes"]:
        best = np.inf
        for _ in range(request["rounds"]):
            start = time.process_time()
            assert build(count).nbody == count + 1
            best = min(best, time.process_time() - start)
        times.append(best)
    print(json.dumps({"version": mujoco.__version__, "seconds": times}))


main()
