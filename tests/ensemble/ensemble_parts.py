"""Components, reductions and tasks of ensembles, in a module that other processes can import."""

import os
import signal
import threading
import time
from typing import Any

from falling_ball import FallingBall

import cosim
from cosim.kit import black_box


class Ball(FallingBall):
    """A ball on a floor."""

    restitution = cosim.parameter(unit="1", default=0.5, minimum=0, maximum=1)
    bounces = cosim.discrete(dtype=int)

    @cosim.on(FallingBall.floor, does="unrestricted")
    def bounce(speed, restitution, bounces, speed_next, bounces_next):
        speed_next[0] = -restitution * speed
        bounces_next[0] = bounces + 1


class Fuse(cosim.Component):
    """Heats up and terminates the run when it melts."""

    heat = cosim.auxiliary_state(unit="J")
    power = cosim.parameter(unit="W", default=1.0)
    strength = cosim.parameter(unit="J", default=0.5)

    @cosim.kernel
    def derivatives(heat, power, heat_dot):
        heat_dot[0] = power

    @cosim.witness(direction="rising")
    def melts(heat, strength):
        return heat - strength

    @cosim.on(melts, does="discrete")
    def stop(heat):
        return 2  # EventStatus.reached_termination


class Blowup(cosim.Component):
    """Grows with the square of its size, which becomes infinite at the reciprocal of its start value."""

    size = cosim.auxiliary_state(start=0.1)

    @cosim.kernel
    def derivatives(size, size_dot):
        size_dot[0] = size * size


class Sampler(cosim.Component):
    """Holds periodic samples of a signal."""

    source = cosim.source()
    held = cosim.discrete()
    period = cosim.parameter(unit="s", default=0.1)

    @cosim.every("period", does="discrete")
    def sample(source, held_next):
        held_next[0] = source


class BallWithPythonHandler(Ball):
    """A ball whose handler at the initialization is Python code without a kernel."""

    initializations = cosim.discrete(dtype=int)

    @cosim.on(cosim.EventCause.INITIALIZATION, does="discrete")
    def count(self, state: Any, next_state: Any) -> None:
        next_state["ball.initializations"] = 1


class BallEndingItsProcess(Ball):
    """A ball that ends its process if its height is 3 m at first."""

    @cosim.on(cosim.EventCause.INITIALIZATION, does="publish")
    def end(self, state: Any) -> None:
        if state["ball.height"] == 3.0:
            os._exit(0)  # the status of a success


class Bounded(cosim.Component):
    """Has a bounded parameter, an integer and a matrix."""

    level = cosim.auxiliary_state()
    positive = cosim.parameter(default=1.0, above=0.0)
    count = cosim.parameter(default=1, dtype=int)
    table = cosim.parameter(shape=(2, 3), default=[[1, 2, 3], [4, 5, 6]])

    @cosim.kernel
    def derivatives(positive, count, table, level_dot):
        level_dot[0] = positive * count * table[5]


def overshoot(times, values):
    """Return by how much the largest value exceeds the last one."""
    largest = values[0]
    for i in range(len(values)):
        largest = max(largest, values[i])
    return largest - values[len(values) - 1]


def distance(times, first, second):
    """Return the largest distance of two signals."""
    largest = 0.0
    for i in range(len(times)):
        largest = max(largest, abs(first[i] - second[i]))
    return largest


def fork_and_return() -> int:
    """Fork, as code of an FMU may, so that the child returns from this function, too."""
    child = os.fork()
    black_box.status_words[black_box.CALL] = 0
    return child


def end_process(status):
    os._exit(status)


def return_a_lock():
    return threading.Lock()


def sleep(seconds):
    time.sleep(seconds)


BARRIER = threading.Barrier(3)


def wait_for_three_threads():
    """Return when three threads of this process have called this function."""
    BARRIER.wait(60.0)


class RunNumbers:
    """A runner whose results are the numbers of the runs."""

    def run_chunk(self, first, last):
        return list(range(first, last))


class KilledRuns:
    """A runner whose run 2 is killed twice, whose run 7 crashes and whose run 9 is killed each time.

    It writes a file into the folder for each start of one of these runs, and fails after 20 starts.
    """

    def __init__(self, folder):
        self.folder = str(folder)

    def run_chunk(self, first, last):
        for run in range(first, last):
            if run not in (2, 7, 9):
                continue
            before = sum(name.startswith(f"{run} ") for name in os.listdir(self.folder))
            open(f"{self.folder}/{run} {before}", "w").close()
            if before > 20:
                raise AssertionError(f"run {run} was started {before} times before")
            if run == 7:
                os.kill(os.getpid(), signal.SIGSEGV)
                time.sleep(10.0)  # another thread may receive the signal
            if run == 9 or before < 2:
                os.kill(os.getpid(), signal.SIGKILL)
                time.sleep(10.0)
        return list(range(first, last))
