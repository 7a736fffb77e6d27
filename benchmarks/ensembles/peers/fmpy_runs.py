"""FMPy: an FMU in processes, each with one instance that is reset; starting the processes is not counted."""

import importlib.metadata
import json
import multiprocessing
import os
import resource
import sys
import time


def load_fmu(path):
    """Load the FMU into this worker, which keeps one instance of it."""
    global fmu, description, folder
    import fmpy
    from fmpy.fmi2 import FMU2Slave

    description = fmpy.read_model_description(path)
    folder = fmpy.extract(path)
    co_simulation = description.coSimulation
    fmu = FMU2Slave(
        guid=description.guid,
        unzipDirectory=folder,
        modelIdentifier=co_simulation.modelIdentifier,
        instanceName="one",
    )
    fmu.instantiate()


def run(request):
    """The last and the largest value of the output in a run: start values, end and interval (s), output."""
    import fmpy

    values, until, interval, output = request
    fmu.reset()
    result = fmpy.simulate_fmu(
        folder,
        stop_time=until,
        step_size=interval,
        output_interval=interval,
        start_values=values,
        output=[output],
        model_description=description,
        fmu_instance=fmu,
        validate=False,
    )
    return float(result[output][-1]), float(result[output].max())


def cpu_of_worker(number):
    """Process id and CPU seconds of this worker so far; it sleeps, so that each worker gets some of these."""
    time.sleep(0.05)
    return os.getpid(), sum(resource.getrusage(resource.RUSAGE_SELF)[:2])


def measured(task, threads):
    """The least wall and CPU time of all runs in so many workers, s, and the values at their ends."""
    tasks = [
        ({task["variable"]: value}, task["until"], task["interval"], task["signal"])
        for value in task["values"]
    ]
    with multiprocessing.get_context("spawn").Pool(threads, load_fmu, (task["fmu"],)) as pool:
        pool.map(run, tasks[:8], 1)
        seconds, cpu = float("inf"), float("inf")
        for _ in range(task["passes"]):
            before = dict(pool.map(cpu_of_worker, range(8 * threads), 1))
            began = time.perf_counter()
            results = pool.map(run, tasks)
            seconds = min(seconds, time.perf_counter() - began)
            after = dict(pool.map(cpu_of_worker, range(8 * threads), 1))
            cpu = min(cpu, sum(after[p] - before.get(p, 0.0) for p in after))
    end = [last for last, _ in results]
    return {"method": "the FMU's own", "threads": threads, "seconds": seconds, "cpu": cpu, "end": end}


if __name__ == "__main__":
    task = json.loads(sys.argv[1])
    runs = [measured(task, threads) for threads in (1, task["threads"])]
    print(json.dumps({"name": f"FMPy {importlib.metadata.version('fmpy')}, processes", "runs": runs}))
