"""Participants that step in several threads: same bytes, same errors, less time; one run at a time."""

import dataclasses
import hashlib
import math
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compared_loops import PythonJacobi
from python_block import Block
from star_of_fmus import NAMES, star

import cosim
from cosim import kit
from cosim_fmu import CoSimulation
from cosim_master.exchange.step_threads import StepThreads

MakeFmu = Callable[..., Path]
EVENTS = {"b.return_at": 0.0355, "c.return_at": 0.0344, "d.return_at": 0.0717}


def speed_up_of_this_machine() -> float:
    """How much faster two threads compute at this moment than one, without locks."""
    data = bytes(10_000_000)

    def hash_once() -> None:
        hashlib.sha256(data).digest()

    def hash_twice(threads: StepThreads) -> float:
        start = time.perf_counter()
        threads.call([hash_once, hash_once])
        return time.perf_counter() - start

    with StepThreads(1) as one_thread, StepThreads(2) as two_threads:
        return min(hash_twice(one_thread) for _ in range(20)) / min(
            hash_twice(two_threads) for _ in range(20)
        )


@pytest.mark.parametrize("algorithm", ["jacobi", "gauss_seidel", "waveform_iteration", PythonJacobi])
def test_same_bytes_and_events_with_any_number_of_threads(make_fmu: MakeFmu, algorithm: Any) -> None:
    results = [
        star(make_fmu, algorithm, threads, starts=EVENTS | {"a.y": 1.0}).simulate(0.2)
        for threads in (1, 2, 5)
    ]
    expected = results[0]
    assert len(expected.events) >= 3
    for result in results[1:]:
        assert result.statistics["loop"] == expected.statistics["loop"]
        assert result.time.tobytes() == expected.time.tobytes()
        for name in expected.names:
            assert result[name].tobytes() == expected[name].tobytes(), name
        assert [(e.time, e.handler) for e in result.events] == [(e.time, e.handler) for e in expected.events]
        assert result.statistics["retries"] == expected.statistics["retries"]
    assert np.ptp(expected["d.y"]) > 0.0


@pytest.mark.by_turns
@pytest.mark.parametrize("algorithm", ["jacobi", "gauss_seidel", PythonJacobi])
@pytest.mark.parametrize("failing", [("b", "c"), ("d", "c")])
def test_the_same_error_with_any_number_of_threads(
    make_fmu: MakeFmu, algorithm: Any, failing: tuple[str, str]
) -> None:
    """Two participants fail in one step; the error does not depend on which fails first."""
    messages = []
    for threads in (1, 2, 3):
        starts = {f"{name}.fail_at": 0.055 for name in failing} | {f"{failing[1]}.work": 1e5}
        loop = star(make_fmu, algorithm, threads, starts=starts)
        with pytest.raises(cosim.SimulationError) as caught:
            loop.simulate(0.2)
        assert loop.result is not None and loop.result.time[-1] == 0.05
        messages.append(str(caught.value))
    assert messages[0] == messages[1] == messages[2]


def test_python_objects_stay_in_the_thread_of_the_caller(make_fmu: MakeFmu) -> None:
    thread_ids = set()

    class RecordsThread(Block):
        def step(self, time: float, size: float) -> float:
            thread_ids.add(threading.get_ident())
            return super().step(time, size)

    parts = {
        "one": RecordsThread({}),
        "a": make_fmu("heavy"),
        "b": make_fmu("heavy"),
        "two": RecordsThread({}),
    }
    CoSimulation(parts, [], "jacobi", 0.1, threads=3).simulate(1.0)
    assert thread_ids == {threading.get_ident()}


def test_an_error_is_raised_after_all_threads_have_finished() -> None:
    finished = []

    def finish_later() -> None:
        time.sleep(0.2)
        finished.append(1)

    def fail() -> None:
        raise ZeroDivisionError

    with StepThreads(2) as threads, pytest.raises(ZeroDivisionError):
        threads.call([finish_later], [fail])
    assert finished == [1]


def test_no_participant_is_closed_during_its_step() -> None:
    """Ctrl-C twice while the caller waits for a thread."""
    is_stepping, finished, closed = threading.Event(), [], []

    class InterruptsItself(Block):
        def describe(self) -> kit.ParticipantDescription:
            return dataclasses.replace(super().describe(), steps_in_threads=True)

        def step(self, time_: float, size: float) -> float:
            if threading.current_thread() is threading.main_thread():
                is_stepping.wait(10.0)
                return super().step(time_, size)
            is_stepping.set()
            for _ in range(2):
                time.sleep(0.05)
                os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.1)
            finished.append(1)
            return super().step(time_, size)

        def close(self) -> None:
            closed.append(bool(finished))

    with pytest.raises(KeyboardInterrupt):
        CoSimulation(
            {"a": InterruptsItself({}), "b": InterruptsItself({})}, [], "jacobi", 0.1, threads=2
        ).simulate(1.0)
    assert closed == [True, True]


@pytest.mark.parametrize("threads", [0, -1, 1.5, True, "2"])
def test_number_of_threads_is_checked(make_fmu: MakeFmu, threads: Any) -> None:
    with pytest.raises(cosim.ModelError, match="whole number.*1"):
        CoSimulation({"a": make_fmu("heavy")}, threads=threads)


@pytest.mark.few(1)
@pytest.mark.parametrize("algorithm", ["jacobi", PythonJacobi, "waveform_iteration"])
def test_steps_that_wait_overlap(make_fmu: MakeFmu, algorithm: Any) -> None:
    """Other load makes a run longer, never shorter, so the shortest of several runs counts."""
    pauses = {f"{name}.pause": 0.02 for name in NAMES}
    shortest = {1: math.inf, 4: math.inf}
    for _ in range(5):
        for threads in shortest:
            run = star(make_fmu, algorithm, threads, starts=pauses).simulate(0.05)
            shortest[threads] = min(shortest[threads], run.statistics["stepping_time"])
        if shortest[4] < 0.6 * shortest[1]:
            break
    assert shortest[1] > 5 * 4 * 0.02  # steps, participants, pause
    assert shortest[4] < 0.6 * shortest[1]


@pytest.mark.thorough
def test_two_threads_are_faster_where_steps_are_long(make_fmu: MakeFmu) -> None:
    possible = speed_up_of_this_machine()
    if possible < 1.5:
        pytest.skip(f"this machine is busy: two threads bring a factor of {possible:.2f} at best")
    loops = {threads: star(make_fmu, "jacobi", threads, work=3e5) for threads in (1, 2)}
    shortest = dict.fromkeys(loops, np.inf)
    for _ in range(60):  # the shortest of many runs: the machine has other load
        for threads, loop in loops.items():
            shortest[threads] = min(shortest[threads], loop.simulate(0.02).statistics["stepping_time"])
    print(f"speed-up with two threads: {shortest[1] / shortest[2]:.2f} of {possible:.2f}")
    assert shortest[1] / shortest[2] > 0.75 * possible


def test_a_co_simulation_refuses_a_second_run_at_the_same_time(make_fmu: MakeFmu) -> None:
    loop = CoSimulation({"m": make_fmu("mass")}, [], "jacobi", 0.1)
    errors: list[str] = []

    def simulate_in_another_thread(time: float) -> None:
        def run() -> None:
            try:
                loop.simulate(1.0)
            except cosim.CosimError as error:
                errors.append(str(error))

        thread = threading.Thread(target=run)
        thread.start()
        thread.join()

    result = loop.simulate(1.0, progress=simulate_in_another_thread)
    assert errors and all("running already" in text for text in errors)
    assert loop.simulate(1.0).signals.keys() == result.signals.keys()  # one run after the other
    with pytest.raises(cosim.CosimError):
        loop.simulate(-1.0)
    assert loop.simulate(1.0).time[-1] == 1.0  # also after an error


@pytest.mark.parametrize("round_number", range(3))
def test_four_threads_that_run_one_co_simulation(make_fmu: MakeFmu, round_number: int) -> None:
    """One of them runs it, the others are refused; in the next round it can be run again."""
    loop = CoSimulation({"m": make_fmu("mass")}, [], "jacobi", 1e-4)
    expected = loop.simulate(1.0)
    start, end, answers = threading.Barrier(4), threading.Barrier(4), list[object]()

    def run() -> None:
        for _ in range(5):
            start.wait()
            try:
                answers.append(loop.simulate(1.0))
            except cosim.CosimError as error:
                answers.append(str(error))
            end.wait()

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 20
    results = [answer for answer in answers if not isinstance(answer, str)]
    assert len(results) >= 5  # one of each round at least
    assert all("running already" in answer for answer in answers if isinstance(answer, str))
    for result in results:
        assert isinstance(result, cosim.Result) and result.time.tobytes() == expected.time.tobytes()
        for name in expected.names:
            assert result[name].tobytes() == expected[name].tobytes()
