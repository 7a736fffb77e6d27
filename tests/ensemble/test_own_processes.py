"""Processes of our own: what ends one costs the others nothing."""

import os
import signal
import sys
import threading
import time
from concurrent.futures import BrokenExecutor, Executor, ThreadPoolExecutor

import pytest
from ensemble_parts import Lost, Spans, ends_its_process, forks, sends_what_cannot_be_sent, sleeps

import cosim
from cosim_ensembles.chunks import Job, run_in_chunks
from cosim_ensembles.own_processes import OwnProcesses


def test_a_lost_process_is_the_answer_to_its_own_task_alone():
    threads = set(threading.enumerate())
    with OwnProcesses(2) as pool:
        before = pool.submit(os.getpid).result()
        lost = pool.submit(ends_its_process, 3)
        others = [pool.submit(abs, -i) for i in range(20)]
        assert [other.result() for other in others] == list(range(20))
        with pytest.raises(BrokenExecutor):
            lost.result()
        assert before != os.getpid()
    assert set(threading.enumerate()) <= threads


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


@pytest.mark.parametrize("chunk", [1, pytest.param(5, marks=pytest.mark.thorough)])
def test_a_run_fails_where_it_ends_its_process_not_where_that_is_killed(chunk, tmp_path, monkeypatch):
    monkeypatch.setattr("cosim_ensembles.chunks.MOST_KILLS", 2)
    taken, failed = [], {}
    with OwnProcesses(2) as pool:
        is_whole = run_in_chunks(
            Job(Lost(tmp_path), pool),
            12,
            lambda first, last: (first, last),
            lambda first, last, found: taken.extend(found),
            lambda run, reason: failed.update({run: reason}),
            lambda: True,
            chunk,
        )
    assert is_whole and sorted(taken) == [run for run in range(12) if run not in (7, 9)]
    assert sorted(failed) == [7, 9]
    assert "with SIGSEGV" in failed[7] and "with SIGKILL" in failed[9]
    begun = [sum(path.name.startswith(f"{run} ") for path in tmp_path.iterdir()) for run in (2, 7, 9)]
    # once after two kills; a crash is to blame at once, a third kill, too
    assert begun == [3, 1, 3] if chunk == 1 else max(begun) < 9


@pytest.mark.parametrize("said", [{"count": 0}, {"count": abs}, {"_max_workers": None}])
def test_executors_that_say_little_of_their_workers_get_work(said):
    began = time.monotonic()
    with ThreadPoolExecutor(1) as threads:
        pool = Executor()
        pool.submit = threads.submit
        vars(pool).update(said)
        taken = []
        is_whole = run_in_chunks(
            Job(Spans(), pool),
            3,
            lambda first, last: (first, last),
            lambda first, last, found: taken.extend(found),
            lambda run, reason: None,
            lambda: time.monotonic() - began < 30.0,
        )
    assert is_whole and sorted(taken) == [0, 1, 2]


def test_processes_that_do_not_begin_are_an_error(monkeypatch):
    monkeypatch.setattr("cosim_ensembles.own_processes.NewProcess.wait_for_it", _ended)
    with OwnProcesses(1) as pool, pytest.raises(cosim.CosimError, match="cannot be started"):
        pool.submit(abs, 1).result()


def _ended(process):
    raise EOFError


@pytest.mark.skipif(os.name == "nt", reason="limits of POSIX")
def test_a_process_whose_limits_code_of_others_has_lowered_takes_no_further_task() -> None:
    import resource

    first = resource.getrlimit(resource.RLIMIT_FSIZE)
    with OwnProcesses(1) as processes:
        for most in (first[1], 0):  # a soft limit is raised again in the same process
            before = processes.submit(os.getpid).result()
            processes.submit(resource.setrlimit, resource.RLIMIT_FSIZE, (0, most)).result()
            assert processes.submit(resource.getrlimit, resource.RLIMIT_FSIZE).result() == first
            assert most == 0 or processes.submit(os.getpid).result() == before


@pytest.mark.skipif(sys.platform != "linux", reason="memory is left out of forks on Linux alone")
def test_what_code_of_others_forks_in_a_process_ends_when_it_comes_back() -> None:
    with OwnProcesses(1) as processes:
        child = processes.submit(forks).result()
        assert child > 0
        assert os.WTERMSIG(processes.submit(os.waitpid, child, 0).result()[1]) == signal.SIGSEGV
