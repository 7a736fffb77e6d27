"""A pool of threads in a process of our own: a run that ends the process does not affect other runs."""

import os
import threading
import time
from concurrent.futures import BrokenExecutor

import pytest
from ensemble_parts import KilledRuns, end_process, return_a_lock, sleep, wait_for_three_threads

from cosim_ensembles.chunks import Job, run_in_chunks, support_of
from cosim_ensembles.own_threads import OwnThreads


def test_threads_of_one_process_do_tasks_at_the_same_time():
    before = threading.active_count()
    with OwnThreads(3) as pool:
        assert support_of(pool).workers(pool) == 3
        ids = {pool.submit(os.getpid).result() for _ in range(3)}
        assert len(ids) == 1 and os.getpid() not in ids
        waiting = [pool.submit(wait_for_three_threads) for _ in range(3)]
        assert [task.result() for task in waiting] == [None] * 3
        with pytest.raises(ZeroDivisionError):
            pool.submit(divmod, 1, 0).result()
        with pytest.raises(Exception, match="cannot pickle"):
            pool.submit(return_a_lock).result()
        assert [pool.submit(abs, -i).result() for i in range(20)] == list(range(20))
    assert threading.active_count() == before
    with pytest.raises(RuntimeError):
        pool.submit(abs, 1)


def test_running_tasks_are_broken_when_the_process_ends_and_a_new_one_starts():
    with OwnThreads(2) as pool:
        process_id = pool.submit(os.getpid).result()
        running = [pool.submit(sleep, 30.0), pool.submit(end_process, 3)]
        for task in running:
            with pytest.raises(BrokenExecutor, match="status 3"):
                task.result()
        assert pool.submit(os.getpid).result() != process_id


def test_an_error_in_the_block_does_not_wait_for_running_tasks():
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt), OwnThreads(2) as pool:
        pool.submit(abs, 1).result()
        long_tasks = [pool.submit(sleep, 100.0) for _ in range(4)]
        raise KeyboardInterrupt
    assert time.monotonic() - start < 30.0
    assert all(task.done() for task in long_tasks)


def test_runs_that_end_the_process_are_found_by_doing_them_alone(tmp_path, monkeypatch):
    monkeypatch.setattr("cosim_ensembles.chunks.MOST_KILLS", 2)
    results, failed = [], {}
    with OwnThreads(2) as pool:
        assert run_in_chunks(
            Job(KilledRuns(tmp_path), pool),
            12,
            lambda first, last: (first, last),
            lambda first, last, numbers: results.extend(numbers),
            lambda run, reason: failed.update({run: reason}),
            lambda: True,
            1,
        )
    assert sorted(results) == [run for run in range(12) if run not in (7, 9)]
    assert "with SIGSEGV" in failed[7] and "with SIGKILL" in failed[9]
