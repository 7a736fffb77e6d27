"""Pinocchio as its wheel is used: the articulated body algorithm called from Python."""

import json
import sys
import time
from pathlib import Path

import numpy as np
import pinocchio as pin

HINGE = {0: pin.JointModelRX, 1: pin.JointModelRY, 2: pin.JointModelRZ}


def build(tree):
    """The tree as a model, and the indices of its hinges."""
    model = pin.Model()
    model.gravity.linear = np.array(tree["gravity"])
    joints, hinges = [], []
    for i, body in enumerate(tree["bodies"]):
        is_pin = body["joint"] == "pin"
        joint = HINGE[int(np.argmax(body["axis"]))]() if is_pin else pin.JointModelFreeFlyer()
        carrier = 0 if body["parent"] < 0 else joints[body["parent"]]
        place = pin.SE3(np.eye(3), np.array(body["position"]))
        joints.append(model.addJoint(carrier, joint, place, f"j{i}"))
        inertia = pin.Inertia(body["mass"], np.array(body["center"]), np.diag(body["inertia"]))
        model.appendBodyToJoint(joints[i], inertia, pin.SE3.Identity())
        hinges += [joints[i]] if is_pin else []
    return model, hinges


def main():
    """Print the time of an evaluation and the accelerations of each tree of a JSON file."""
    answers = {}
    for tree in json.loads(Path(sys.argv[1]).read_text()):
        model, hinges = build(tree)
        data = model.createData()
        q, v, tau = pin.neutral(model), np.zeros(model.nv), np.zeros(model.nv)
        for joint in hinges:
            q[model.idx_qs[joint]], v[model.idx_vs[joint]] = tree["q"], tree["u"]
        count = max(50, 40000 // (1 + len(tree["bodies"])))
        times = []
        for _ in range(tree["rounds"]):
            start = time.perf_counter()
            for _ in range(count):
                pin.aba(model, data, q, v, tau)
            times.append((time.perf_counter() - start) / count)
        udot = [float(data.ddq[model.idx_vs[joint]]) for joint in hinges]
        answers[tree["name"]] = {"seconds": min(times), "udot": udot}
    print(json.dumps({"version": pin.__version__, "trees": answers}))


main()
