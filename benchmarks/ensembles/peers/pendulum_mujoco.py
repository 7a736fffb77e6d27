"""MuJoCo: its roll-out in threads, with steps of its Runge-Kutta method; every step is kept."""

import json
import sys
import time

import mujoco
import numpy as np
from mujoco import rollout

FULL = mujoco.mjtState.mjSTATE_FULLPHYSICS
BODY = """<body pos="0 {at} 0"><inertial pos="0 -0.25 0" mass="1" diaginertia="0.02 0.001 0.02"/>
<joint type="hinge" axis="0 0 1"/>{more}</body>"""

task = json.loads(sys.argv[1])
bodies = ""
for i in reversed(range(5)):
    bodies = BODY.format(at=-0.5 if i else 0, more=bodies)
model = mujoco.MjModel.from_xml_string(
    f"""<mujoco><option gravity="0 -9.81 0" integrator="RK4"><flag constraint="disable" contact="disable"
    equality="disable" sensor="disable" actuation="disable" warmstart="disable"/></option>
    <worldbody>{bodies}</worldbody></mujoco>"""
)
angles = np.array(task["angles"])
data = mujoco.MjData(model)
start = np.empty((len(angles), mujoco.mj_stateSize(model, FULL)))
for i, angle in enumerate(angles):
    data.qpos[0] = angle
    mujoco.mj_getState(model, data, start[i], FULL)
runs = []
for k in (1, 2, 3, 4, 6, 8, 12, 16):
    model.opt.timestep = task["interval"] / k
    count = k * round(task["until"] / task["interval"])
    for threads in (1, task["threads"]):
        with rollout.Rollout(nthread=threads) as rollout_pool:
            datas = [mujoco.MjData(model) for _ in range(threads)]
            seconds, cpu = np.inf, np.inf
            for _ in range(task["passes"]):
                began, used = time.perf_counter(), time.process_time()
                states, _ = rollout_pool.rollout(model, datas, start, nstep=count)
                seconds = min(seconds, time.perf_counter() - began)
                cpu = min(cpu, time.process_time() - used)
        # time, angles of the joints, rates
        how = {"method": f"RK4, {model.opt.timestep:g} s", "threads": threads}
        runs.append(how | {"seconds": seconds, "cpu": cpu, "end": states[:, -1, 5].tolist()})
print(json.dumps({"name": f"MuJoCo {mujoco.__version__} `rollout`", "runs": runs}))
