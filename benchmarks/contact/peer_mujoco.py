"""MuJoCo: spheres that fall onto a floor, at several steps; prints times and heights over time."""

import json
import sys
import time

import mujoco

STEPS = (2e-3, 1e-3, 1e-4, 1e-5)


def build(places, step):
    """Spheres of 0.1 m in a grid at these heights, m, above a floor; steps of a length, s."""
    spec = mujoco.MjSpec()
    spec.option.timestep = step
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[100, 100, 1])
    for i, height in enumerate(places):
        body = spec.worldbody.add_body(pos=[0.3 * (i % 10), 0.3 * (i // 10), height])
        body.add_freejoint()
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.1, 0, 0], mass=1.0)
    return spec.compile()


def run(places, shown, step, until):
    """CPU time of a run, s, and the heights of the shown spheres at 20 times of it, m."""
    model = build(places, step)
    data = mujoco.MjData(model)
    heights = []
    start = time.process_time()
    for _ in range(20):
        mujoco.mj_step(model, data, nstep=round(until / 20 / step))
        heights += [float(data.qpos[7 * k + 2]) for k in shown]
    return {"step": step, "seconds": time.process_time() - start, "heights": heights}


def main():
    """Print the runs with each step; arguments: count, lowest and highest height (m), end (s)."""
    count, (low, high, until) = int(sys.argv[1]), map(float, sys.argv[2:5])
    places = [low + (high - low) * i / max(1, count - 1) for i in range(count)]
    shown = [k * (count - 1) // 4 for k in range(5)]
    runs = [run(places, shown, step, until) for step in STEPS[:-1]]
    # The finest step only shows the error of the others, so five spheres are enough there.
    runs.append(run([places[k] for k in shown], range(5), STEPS[-1], until))
    print(json.dumps(runs))


if __name__ == "__main__":
    main()
