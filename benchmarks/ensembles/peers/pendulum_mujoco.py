"""MuJoCo: its roll-out in threads, with steps of its Runge-Kutta method; every step is kept."""

import json
import sys

import mujoco
import numpy as np
from mujoco import rollout
from timed_runs import least_times

FULL = mujoco.mjtState.mjSTATE_FULLPHYSICS
LINKS = 5
LAST_ANGLE = LINKS  # its column in a state: time, angles of the joints, rates
STEPS_IN_INTERVAL = (1, 2, 3, 4, 6, 8, 12, 16)
BODY = """<body pos="0 {at} 0"><inertial pos="0 -0.25 0" mass="1" diaginertia="0.02 0.001 0.02"/>
<joint type="hinge" axis="0 0 1"/>{more}</body>"""


def build():
    """The pendulum as a model in which nothing but its joints, gravity and inertia counts."""
    bodies = ""
    for i in reversed(range(LINKS)):
        bodies = BODY.format(at=-0.5 if i else 0, more=bodies)
    return mujoco.MjModel.from_xml_string(
        f"""<mujoco><option gravity="0 -9.81 0" integrator="RK4"><flag constraint="disable" contact="disable"
        equality="disable" sensor="disable" actuation="disable" warmstart="disable"/></option>
        <worldbody>{bodies}</worldbody></mujoco>"""
    )


def starts(model, angles):
    """The state at the start of each run: the first joint at its angle, rad."""
    data = mujoco.MjData(model)
    states = np.empty((len(angles), mujoco.mj_stateSize(model, FULL)))
    for i, angle in enumerate(angles):
        data.qpos[0] = angle
        mujoco.mj_getState(model, data, states[i], FULL)
    return states


def main():
    """Print the times of all runs and the last angle at their ends, with each step and number of threads."""
    task = json.loads(sys.argv[1])
    model = build()
    start = starts(model, np.array(task["angles"]))
    runs = []
    for k in STEPS_IN_INTERVAL:
        model.opt.timestep = task["interval"] / k
        count = k * round(task["until"] / task["interval"])
        for threads in (1, task["threads"]):
            with rollout.Rollout(nthread=threads) as pool:
                datas = [mujoco.MjData(model) for _ in range(threads)]
                seconds, cpu, (states, _) = least_times(
                    lambda pool=pool, datas=datas, count=count: pool.rollout(
                        model, datas, start, nstep=count
                    ),
                    task["passes"],
                )
            method = {"method": f"RK4, {model.opt.timestep:g} s", "threads": threads}
            end = states[:, -1, LAST_ANGLE].tolist()
            runs.append(method | {"seconds": seconds, "cpu": cpu, "end": end})
    print(json.dumps({"name": f"MuJoCo {mujoco.__version__} `rollout`", "runs": runs}))


main()
