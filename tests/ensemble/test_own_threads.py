"""Threads of a process of our own: what ends it is found, and costs no other run its answer."""

import os
import threading
import time
from concurrent.futures import BrokenExecutor

import pytest
from ensemble_parts import Lost, ends_its_process, meets, sends_what_cannot_be_sent, sleeps

from cosim_ensembles.chunks import Job, run_in_chunks, support_of
from cosim_ensembles.own_threads import OwnThreads


def test_threads_of_one_process_take_tasks_side_by_side():
    before = threading.active_count()
    with OwnThreads(3) as pool:
        assert support_of(pool).workers(pool) == 3
        ids = {pool.submit(os.getpid).result() for _ in range(3)}
        assert len(ids) == 1 and os.getpid() not in ids
        meeting = [pool.submit(meets) for _ in range(3)]
        assert [task.result() for task in meeting] == [None] * 3
        with pytest.raises(ZeroDivisionError):
            pool.submit(divmod, 1, 0).result()
        with pytest.raises(Exception, match="cannot pickle"):
            pool.submit(sends_what_cannot_be_sent).result()
        assert [pool.submit(abs, -i).result() for i in range(20)] == list(range(20))
    assert threading.active_count() == before
    with pytest.raises(RuntimeError):
        pool.submit(abs, 1)


def test_a_process_that_ends_takes_what_is_under_way_with_it_and_another_begins():
    with OwnThreads(2) as pool:
        first = pool.submit(os.getpid).result()
        under_way = [pool.submit(sleeps, 30.0), pool.submit(ends_its_process, 3)]
        for task in under_way:
            with pytest.raises(BrokenExecutor, match="status 3"):
                task.result()
        assert pool.submit(os.getpid).result() != first


def test_an_error_in_the_block_does_not_wait():
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt), OwnThreads(2) as pool:
        pool.submit(abs, 1).result()
        long = [pool.submit(sleeps, 100.0) for _ in range(4)]
        raise KeyboardInterrupt
    assert time.monotonic() - began < 30.0
    assert all(task.done() for task in long)


def test_what_ends_the_process_is_found_by_doing_it_alone(tmp_path, monkeypatch):
    monkeypatch.setattr("cosim_ensembles.chunks.MOST_KILLS", 2)
    taken, failed = [], {}
    with OwnThreads(2) as pool:
        assert run_in_chunks(
            Job(Lost(tmp_path), pool),
            12,
            lambda first, last: (first, last),
            lambda first, last, found: taken.extend(found),
            lambda run, reason: failed.update({run: reason}),
            lambda: True,
            1,
        )
    assert sorted(taken) == [run for run in range(12) if run not in (7, 9)]
    assert "with SIGSEGV" in failed[7] and "with SIGKILL" in failed[9]
