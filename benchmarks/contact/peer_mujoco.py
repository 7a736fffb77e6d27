"""MuJoCo: spheres that fall onto a floor, at several steps; prints times and heights over time."""

import json
import sys
import time

import mujoco

STEPS = (2e-3, 1e-3, 1e-4, 1e-5)


def build(count, height, step):
    spec = mujoco.MjSpec()
    spec.option.timestep = step
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[100, 100, 1])
    for i in range(count):
        body = spec.worldbody.add_body(pos=[0.3 * (i % 10), 0.3 * (i // 10), height])
        body.add_freejoint()
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.1, 0, 0], mass=1.0)
    return spec.compile()


def run(count, height, step, until):
    model = build(count, height, step)
    data = mujoco.MjData(model)
    heights = []
    start = time.process_time()
    for _ in range(20):
        mujoco.mj_step(model, data, nstep=round(until / 20 / step))
        heights.append(float(data.qpos[2]))
    return {"step": step, "seconds": time.process_time() - start, "heights": heights}


def main():
    count, height, until = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
    # The finest step only shows the error of the others, so one sphere is enough there.
    runs = [run(1 if step < 1e-4 else count, height, step, until) for step in STEPS]
    print(json.dumps(runs))


if __name__ == "__main__":
    main()
