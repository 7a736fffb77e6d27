"""The time of all runs at once, for programs in an environment of their own."""

import time


def least_times(run_all, passes):
    """The least wall and CPU time of some passes, s, and what the last one returned."""
    seconds = cpu = float("inf")
    for _ in range(passes):
        began, used = time.perf_counter(), time.process_time()
        answer = run_all()
        seconds = min(seconds, time.perf_counter() - began)
        cpu = min(cpu, time.process_time() - used)
    return seconds, cpu, answer
