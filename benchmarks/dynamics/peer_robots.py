"""Public robots: steps of MuJoCo's own loop in C, Pinocchio's algorithm called from Python."""

import json
import sys
import time
from pathlib import Path

import gymnasium
import mujoco
import numpy as np
import pinocchio as pin

MODELS = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets"
ROBOTS = Path(pin.__file__).parents[4] / "share" / "example-robot-data" / "robots"
ROUNDS = 5


def best(count, run):
    """Wall time of one of `count` steps or calls that `run` makes, s, the least of some rounds."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        run(count)
        times.append((time.perf_counter() - start) / count)
    return min(times)


def by_mujoco(path):
    """Wall time of a step of MuJoCo without constraints, s."""
    model = mujoco.MjModel.from_xml_path(str(path))
    model.opt.timestep, model.opt.integrator = 1e-9, mujoco.mjtIntegrator.mjINT_EULER
    flag = mujoco.mjtDisableBit
    model.opt.disableflags = int(flag.mjDSBL_CONSTRAINT | flag.mjDSBL_CONTACT | flag.mjDSBL_EQUALITY)
    model.opt.disableflags |= int(flag.mjDSBL_SENSOR | flag.mjDSBL_WARMSTART)
    data = mujoco.MjData(model)
    seconds = best(2000, lambda count: mujoco.mj_step(model, data, nstep=count))
    assert np.isfinite(data.qacc).all()
    return seconds


def by_pinocchio(path):
    """Wall time of a call of the articulated body algorithm, s."""
    model = pin.buildModelFromMJCF(str(path)) if path.suffix == ".xml" else pin.buildModelFromUrdf(str(path))
    data, q, v = model.createData(), pin.neutral(model), np.full(model.nv, 0.1)

    def run(count):
        for _ in range(count):
            pin.aba(model, data, q, v, v)

    return best(2000, run)


def main():
    """Print the times of the robots that are named, by library, or why one cannot read a file."""
    answers = {}
    for name in sys.argv[1:]:
        path = MODELS / name if name.endswith(".xml") else ROBOTS / name
        times = {"path": str(path)}
        if name.endswith(".xml"):
            times["MuJoCo"] = by_mujoco(path)
        try:
            times["Pinocchio"] = by_pinocchio(path)
        except Exception as error:  # it does not read all of MJCF
            times["Pinocchio fault"] = str(error)
        answers[name] = times
    versions = {"MuJoCo": mujoco.__version__, "Pinocchio": pin.__version__}
    print(json.dumps({"versions": versions, "robots": answers}))


main()
