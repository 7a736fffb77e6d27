"""Processes of our own: what ends one costs the others nothing."""

import os
import signal
import threading
import time
from concurrent.futures import BrokenExecutor

import pytest
from ensemble_parts import ends_its_process, sends_what_cannot_be_sent, sleeps

from cosim.ensemble.chunks import Job, do_in_chunks
from cosim.ensemble.own_processes import OwnProcesses


def test_a_lost_process_is_the_answer_to_its_own_task_alone():
    with OwnProcesses(2) as pool:
        before = pool.submit(os.getpid).result()
        lost = pool.submit(ends_its_process, 3)
        others = [pool.submit(abs, -i) for i in range(20)]
        assert [other.result() for other in others] == list(range(20))
        with pytest.raises(BrokenExecutor):
            lost.result()
        assert before != os.getpid()
    assert threading.active_count() == 1


def test_errors_come_back():
    with OwnProcesses(1) as pool:
        with pytest.raises(ZeroDivisionError):
            pool.submit(divmod, 1, 0).result()
        with pytest.raises(Exception, match="cannot pickle"):
            pool.submit(sends_what_cannot_be_sent).result()
        assert pool.submit(abs, -1).result() == 1  # and it goes on


def test_an_error_in_the_block_does_not_wait_for_what_is_under_way():
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt), OwnProcesses(2) as pool:
        pool.submit(abs, 1).result()
        long = [pool.submit(sleeps, 100.0) for _ in range(4)]
        raise KeyboardInterrupt
    assert time.monotonic() - began < 30.0
    assert all(task.done() for task in long)


class Killed:
    """A runner: one of its runs is killed from outside the first time, another one each time."""

    def __init__(self, once):
        self.once = str(once)

    def run_chunk(self, first, last):
        for run in range(first, last):
            if run == 7 or (run == 2 and not os.path.exists(self.once)):
                if run == 2:
                    open(self.once, "w").close()
                os.kill(os.getpid(), signal.SIGKILL)
        return list(range(first, last))


@pytest.mark.parametrize("chunk", [1, pytest.param(5, marks=pytest.mark.thorough)])
def test_a_run_has_failed_when_it_was_lost_twice(chunk, tmp_path):
    taken, failed = [], []
    with OwnProcesses(2) as pool:
        is_whole = do_in_chunks(
            Job(Killed(tmp_path / "once"), pool),
            12,
            lambda first, last: (first, last),
            lambda first, last, found: taken.extend(found),
            lambda run, reason: failed.append((run, reason)),
            lambda: True,
            chunk,
        )
    assert is_whole and sorted(taken) == [run for run in range(12) if run != 7]
    assert [run for run, _ in failed] == [7] and "without an answer" in failed[0][1]
