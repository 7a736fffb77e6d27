"""A pool of our own processes: a task that ends its process does not affect other tasks."""

import os
import signal
import sys
import threading
import time
from concurrent.futures import BrokenExecutor, Executor, ThreadPoolExecutor

import pytest
from ensemble_parts import KilledRuns, RunNumbers, end_process, fork_and_return, return_a_lock, sleep

import cosim
from cosim_ensembles.chunks import Job, run_in_chunks
from cosim_ensembles.own_processes import OwnProcesses


def raise_end_of_file(process):
    raise EOFError


def test_only_the_task_that_ends_its_process_is_broken():
    threads = set(threading.enumerate())
    with OwnProcesses(2) as pool:
        process_id = pool.submit(os.getpid).result()
        broken = pool.submit(end_process, 3)
        others = [pool.submit(abs, -i) for i in range(20)]
        assert [other.result() for other in others] == list(range(20))
        with pytest.raises(BrokenExecutor):
            broken.result()
        assert process_id != os.getpid()
    assert set(threading.enumerate()) <= threads


def test_errors_of_tasks_are_raised_by_their_results():
    with OwnProcesses(1) as pool:
        with pytest.raises(ZeroDivisionError):
            pool.submit(divmod, 1, 0).result()
        with pytest.raises(Exception, match="cannot pickle"):
            pool.submit(return_a_lock).result()
        assert pool.submit(abs, -1).result() == 1  # the process still works


def test_an_error_in_the_block_does_not_wait_for_running_tasks():
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt), OwnProcesses(2) as pool:
        pool.submit(abs, 1).result()
        long_tasks = [pool.submit(sleep, 100.0) for _ in range(4)]
        raise KeyboardInterrupt
    assert time.monotonic() - start < 30.0
    assert all(task.done() for task in long_tasks)


@pytest.mark.parametrize("chunk", [1, pytest.param(5, marks=pytest.mark.thorough)])
def test_runs_are_repeated_after_two_kills_but_not_after_a_crash(chunk, tmp_path, monkeypatch):
    monkeypatch.setattr("cosim_ensembles.chunks.MOST_KILLS", 2)
    results, failed = [], {}
    with OwnProcesses(2) as pool:
        is_whole = run_in_chunks(
            Job(KilledRuns(tmp_path), pool),
            12,
            lambda first, last: (first, last),
            lambda first, last, numbers: results.extend(numbers),
            lambda run, reason: failed.update({run: reason}),
            lambda: True,
            chunk,
        )
    assert is_whole and sorted(results) == [run for run in range(12) if run not in (7, 9)]
    assert sorted(failed) == [7, 9]
    assert "with SIGSEGV" in failed[7] and "with SIGKILL" in failed[9]
    starts = [sum(path.name.startswith(f"{run} ") for path in tmp_path.iterdir()) for run in (2, 7, 9)]
    # A run fails with its first crash or with its third kill.
    assert starts == [3, 1, 3] if chunk == 1 else max(starts) < 9


@pytest.mark.parametrize("attributes", [{"count": 0}, {"count": abs}, {"_max_workers": None}])
def test_executors_without_a_known_number_of_workers(attributes):
    start = time.monotonic()
    with ThreadPoolExecutor(1) as threads:
        pool = Executor()
        pool.submit = threads.submit
        vars(pool).update(attributes)
        results = []
        is_whole = run_in_chunks(
            Job(RunNumbers(), pool),
            3,
            lambda first, last: (first, last),
            lambda first, last, numbers: results.extend(numbers),
            lambda run, reason: None,
            lambda: time.monotonic() - start < 30.0,
        )
    assert is_whole and sorted(results) == [0, 1, 2]


def test_a_process_that_does_not_start_is_an_error(monkeypatch):
    monkeypatch.setattr("cosim_ensembles.own_processes.NewProcess.wait_for_it", raise_end_of_file)
    with OwnProcesses(1) as pool, pytest.raises(cosim.CosimError, match="cannot be started"):
        pool.submit(abs, 1).result()


@pytest.mark.skipif(os.name == "nt", reason="limits of POSIX")
def test_a_process_with_a_lowered_hard_limit_takes_no_further_task() -> None:
    import resource

    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with OwnProcesses(1) as processes:
        for hard in (limits[1], 0):  # a lowered soft limit is raised again in the same process
            before = processes.submit(os.getpid).result()
            processes.submit(resource.setrlimit, resource.RLIMIT_FSIZE, (0, hard)).result()
            assert processes.submit(resource.getrlimit, resource.RLIMIT_FSIZE).result() == limits
            assert hard == 0 or processes.submit(os.getpid).result() == before


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux leaves memory out of forks")
def test_a_fork_of_a_process_ends_when_it_returns() -> None:
    with OwnProcesses(1) as processes:
        child = processes.submit(fork_and_return).result()
        assert child > 0
        assert os.WTERMSIG(processes.submit(os.waitpid, child, 0).result()[1]) == signal.SIGSEGV
