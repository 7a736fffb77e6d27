"""diffrax: compiled by XLA once for each problem and method; compiling is not counted."""

import json
import sys
import time

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
from laws import PROBLEMS, laws

jax.config.update("jax_enable_x64", True)
# evaluations a step, the last stage of one being the first of the next where the method has that
METHODS = {"Bosh3": (diffrax.Bosh3, 3), "Tsit5": (diffrax.Tsit5, 6), "Dopri5": (diffrax.Dopri5, 6)}
METHODS["Dopri8"] = (diffrax.Dopri8, 13)

runs = []
for name, law in laws(jnp).items():
    start, until = PROBLEMS[name]
    for method, (solver, stages) in METHODS.items():

        @jax.jit
        def solve(y, accuracy, law=law, solver=solver, until=until):
            return diffrax.diffeqsolve(
                diffrax.ODETerm(lambda t, y, args: law(t, y)),
                solver(),
                0.0,
                until,
                None,
                y,
                stepsize_controller=diffrax.PIDController(rtol=accuracy, atol=1e-3 * accuracy),
                saveat=diffrax.SaveAt(t1=True),
                max_steps=200_000,
                throw=False,  # an error far off says the same
            )

        y = jnp.array(start)
        for accuracy in json.loads(sys.argv[1]):
            if method == "Bosh3" and accuracy < 1e-8:
                continue
            solution = jax.block_until_ready(solve(y, accuracy))  # compiles
            seconds = np.inf
            for _ in range(int(sys.argv[2])):
                begin = time.perf_counter()
                solution = jax.block_until_ready(solve(y, accuracy))
                seconds = min(seconds, time.perf_counter() - begin)
            evaluations = int(solution.stats["num_steps"]) * stages + 2
            runs.append(
                {
                    "problem": name,
                    "method": method,
                    "accuracy": accuracy,
                    "seconds": seconds,
                    "evaluations": evaluations,
                    "end": np.asarray(solution.ys)[-1].tolist(),
                }
            )
print(json.dumps({"name": f"diffrax {diffrax.__version__}", "runs": runs}))
