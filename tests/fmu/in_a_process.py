"""Participants for tests that another process imports."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import cosim
from cosim import kit


class Ramp(cosim.Participant):
    """y = slope * time; other outputs describe the process in which it runs."""

    def __init__(self, slope: float = 1.0, leave_at: float = 1e300) -> None:
        self.slope, self.leave_at, self.time = slope, leave_at, 0.0

    def describe(self) -> kit.ParticipantDescription:
        variables = {n: kit.ParticipantVariable(n, "output") for n in ("y", "process", "main", "modules")}
        return kit.ParticipantDescription("ramp", variables, {}, can_restore=True, can_serialize=True)

    def initialize(self, start: float, stop: Any, values: Any, tolerance: Any = None) -> None:
        self.time = start

    def set(self, names: Any, values: Any) -> None:
        pass

    def step(self, time: float, size: float) -> float:
        if time + size > self.leave_at:
            os._exit(7)
        self.time = time + size
        return self.time

    def get(self, names: Any) -> list[Any]:
        values = {
            "y": self.slope * self.time,
            "process": float(os.getpid()),
            "main": float("pytest" in sys.modules),  # 1 in the process of the tests
            "modules": float(len(sys.modules)),
        }
        return [values[name] for name in names]

    def save(self) -> Any:
        return [self.time, lambda: "a function cannot be sent to another process"]

    def restore(self, token: Any) -> None:
        self.time = token[0]

    def serialize(self, token: Any) -> bytes:
        return str(token[0]).encode()

    def deserialize(self, data: bytes) -> Any:
        return [float(data)]

    def close(self) -> None:
        pass


class Ball(cosim.Component):
    """A ball that falls and bounces with half of its speed; the input ``wind`` has no effect."""

    height = cosim.position(unit="m", start=1.0)
    speed = cosim.speed(unit="m/s")
    wind = cosim.input(unit="m")

    @cosim.kernel
    def fall(speed, height_dot, speed_dot):
        height_dot[0] = speed
        speed_dot[0] = -9.81

    @cosim.witness(direction="falling")
    def touch(height):
        return height

    @cosim.on(touch, does="unrestricted")
    def bounce(speed, speed_next):
        speed_next[0] = -0.5 * speed


def ball() -> cosim.Model:
    model = cosim.Model("ball")
    model.add(Ball, "ball")
    return model


def ball_participant() -> cosim.Participant:
    from cosim_fmu import SystemParticipant

    return SystemParticipant(ball(), accuracy=1e-9)


class SlowToBegin(Ramp):
    """Takes 1.5 s to start, which is longer than tests allow for a call."""

    def write_log(self, file: Path | None, level: str = "warning") -> None:
        time.sleep(1.5)


class Echo(Ramp):
    """Shows its input. Setting 13 and reading -1 fail; setting 99 and reading -99 end the process."""

    def __init__(self) -> None:
        super().__init__()
        self.u = 0.0

    def describe(self) -> kit.ParticipantDescription:
        variables = {
            "u": kit.ParticipantVariable("u", "input"),
            "y": kit.ParticipantVariable("y", "output"),
            "t": kit.ParticipantVariable("t", "output"),
        }
        return kit.ParticipantDescription("echo", variables, {}, can_restore=True)

    def set(self, names: Any, values: Any) -> None:
        if values[0] == 13.0:
            raise cosim.FmuError("echo", "no 13", "fmi2SetReal")
        if values[0] == 99.0:
            os._exit(9)
        self.u = values[0]

    def get(self, names: Any) -> list[Any]:
        if self.u == -1.0:
            raise cosim.FmuError("echo", "nothing to be read", "fmi2GetReal")
        if self.u == -99.0:
            os._exit(8)
        return [{"y": self.u, "t": self.time, "u": self.u}[name] for name in names]

    def save(self) -> Any:
        return self.time, self.u

    def restore(self, token: Any) -> None:
        self.time, self.u = token
