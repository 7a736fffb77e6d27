"""Components for ensembles; in a module of their own, so that other processes can import them."""

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
    """Heats up, and asks to stop when it melts; its resistance is the root of a number."""

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
    """Grows as its own square: infinite at the reciprocal of where it starts."""

    size = cosim.auxiliary_state(start=0.1)

    @cosim.kernel
    def derivatives(size, size_dot):
        size_dot[0] = size * size


class Sampler(cosim.Component):
    """Keeps a signal, periodically; the handler sees the grid points."""

    source = cosim.source()
    kept = cosim.discrete()
    period = cosim.parameter(unit="s", default=0.1)

    @cosim.every("period", does="discrete")
    def sample(source, kept_next):
        kept_next[0] = source


class Counted(Ball):
    """A ball with a handler in Python."""

    seen = cosim.discrete(dtype=int)

    @cosim.on(cosim.EventCause.INITIALIZATION, does="discrete")
    def count(self, state: Any, next_state: Any) -> None:
        next_state["ball.seen"] = 1


class Deadly(Ball):
    """Ends its process where the ball is dropped from a height of 3 m."""

    @cosim.on(cosim.EventCause.INITIALIZATION, does="publish")
    def end(self, state: Any) -> None:
        if state["ball.height"] == 3.0:
            os._exit(0)  # as if all were well


def overshoot(times, values):
    """By how much the largest value exceeds the last one."""
    largest = values[0]
    for i in range(len(values)):
        largest = max(largest, values[i])
    return largest - values[len(values) - 1]


def distance(times, first, second):
    """The largest distance of two signals."""
    found = 0.0
    for i in range(len(times)):
        found = max(found, abs(first[i] - second[i]))
    return found


def forks() -> int:
    """As code of an FMU may: the child comes back."""
    child = os.fork()
    black_box.status_words[black_box.CALL] = 0
    return child


def ends_its_process(status):
    os._exit(status)


def sends_what_cannot_be_sent():
    return threading.Lock()


def sleeps(seconds):
    time.sleep(seconds)


MEETING = threading.Barrier(3)


def meets():
    """Come back when three threads of this process are here at once."""
    MEETING.wait(60.0)


class Bounded(cosim.Component):
    """Has numbers of all sorts of bounds."""

    level = cosim.auxiliary_state()
    positive = cosim.parameter(default=1.0, above=0.0)
    count = cosim.parameter(default=1, dtype=int)
    table = cosim.parameter(shape=(2, 3), default=[[1, 2, 3], [4, 5, 6]])

    @cosim.kernel
    def derivatives(positive, count, table, level_dot):
        level_dot[0] = positive * count * table[5]


class Spans:
    """A runner: its answers are the numbers of the runs."""

    def run_chunk(self, first, last):
        return list(range(first, last))


class Lost:
    """A runner: run 2 is killed from outside twice, run 7 crashes, run 9 is killed each time.

    Its folder has a file for each time that one of them was begun. To begin for ever is an error.
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
                raise AssertionError(f"run {run} is begun once more after {before} times")
            if run == 7:
                os.kill(os.getpid(), signal.SIGSEGV)
                time.sleep(10.0)  # it may be another thread that gets the signal
            if run == 9 or before < 2:
                os.kill(os.getpid(), signal.SIGKILL)
                time.sleep(10.0)
        return list(range(first, last))
