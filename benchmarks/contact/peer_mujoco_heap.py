"""MuJoCo: a thousand balls in a box, at several steps; prints times and mean heights."""

import json
import sys
import time

import mujoco
import numpy as np

COUNT = 1000
RUNS = (("CG", 2e-3), ("CG", 1e-3), ("CG", 2.5e-4))  # solver, step (s)


def build(side, step, solver):
    """`COUNT` spheres of 0.1 m in a loose grid inside a box with walls at ± `side`, m."""
    spec = mujoco.MjSpec()
    spec.option.timestep = step
    spec.option.solver = getattr(mujoco.mjtSolver, f"mjSOL_{solver}")
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[100, 100, 1])
    for axis in (0, 1):
        for sign in (-1, 1):
            place, inward = [0, 0, 0], [0, 0, 0]
            place[axis], inward[axis] = sign * side, -sign
            spec.worldbody.add_geom(
                type=mujoco.mjtGeom.mjGEOM_PLANE, size=[100, 100, 1], pos=place, zaxis=inward
            )
    random = np.random.default_rng(0)
    i = np.arange(COUNT)
    grid = np.stack(
        [-0.99 + 0.22 * (i % 10), -0.99 + 0.22 * (i // 10 % 10), 0.12 + 0.22 * (i // 100)], axis=1
    )
    for place in grid + random.uniform(-0.005, 0.005, (COUNT, 3)):
        body = spec.worldbody.add_body(pos=place)
        body.add_freejoint()
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.1, 0, 0], mass=1.0)
    return spec.compile()


def run(until, side, solver, step):
    """CPU time of a run, s, and the mean height of the spheres at ten times of it, m."""
    model = build(side, step, solver)
    data = mujoco.MjData(model)
    heights, start = [], time.process_time()
    for _ in range(10):
        mujoco.mj_step(model, data, nstep=round(until / 10 / step))
        heights.append(float(data.qpos.reshape(-1, 7)[:, 2].mean()))
    return {"solver": solver, "step": step, "seconds": time.process_time() - start, "heights": heights}


def main():
    """Print the runs with each step; arguments: end (s), half the width of the box (m)."""
    until, side = float(sys.argv[1]), float(sys.argv[2])
    print(json.dumps([run(until, side, solver, step) for solver, step in RUNS]))


if __name__ == "__main__":
    main()
