"""diffrax: the equations by hand, `vmap` over the runs; compiling is not counted.

XLA starts a thread for each processor of the process, so there is a process for each number of threads, whose
processors are limited.

The first argument is the task, a JSON object:

- until: end of the runs, s;
- interval: interval of the output, s;
- angles: start angle of each run, rad;
- passes: number of measurements, of which the least one counts;
- threads: largest number of threads.

With a second argument, a number of threads, this is the process that runs with so many.
"""

import json
import os
import subprocess
import sys


def run_with(task, threads):
    """Limit this process to `threads` processors, and measure all methods and tolerances."""
    os.sched_setaffinity(0, set(sorted(os.sched_getaffinity(0))[:threads]))
    from pendulum_diffrax_runs import timed_runs  # imports jax, which counts the processors

    return timed_runs(task, threads)


def main():
    """Run each number of threads in a process of its own, and print all runs."""
    task = json.loads(sys.argv[1])
    runs, name = [], ""
    for threads in (1, task["threads"]):
        command = [sys.executable, __file__, sys.argv[1], str(threads)]
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        answer = json.loads(output.splitlines()[-1])
        name, runs = answer["name"], runs + answer["runs"]
    print(json.dumps({"name": name, "runs": runs}))


if len(sys.argv) > 2:  # child process
    print(json.dumps(run_with(json.loads(sys.argv[1]), int(sys.argv[2]))))
else:
    main()
