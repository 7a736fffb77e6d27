"""Runs in chunks for any executor, executors of our own, reductions: public, for other studies."""

from cosim_ensembles.chunks import Job as Job
from cosim_ensembles.chunks import run_in_chunks as run_in_chunks
from cosim_ensembles.executor_support import ExecutorSupport as ExecutorSupport
from cosim_ensembles.own_processes import OwnProcesses as OwnProcesses
from cosim_ensembles.own_threads import OwnThreads as OwnThreads
from cosim_ensembles.processors import available_processors as available_processors
from cosim_ensembles.reduction import named_reduction as named_reduction
from cosim_ensembles.reduction import unit_of_reduction as unit_of_reduction

__all__ = [
    "ExecutorSupport",
    "Job",
    "OwnProcesses",
    "OwnThreads",
    "available_processors",
    "named_reduction",
    "run_in_chunks",
    "unit_of_reduction",
]
