"""A process in plain Python that prints which files an event, a delayed value and a parameter pass (JSON).

A ball bounces once, and a delay shows where it was. Only files of this project that a reader opens count:
no adapters and entry points, which are made from declarations, and no stand-in for a call by address.
"""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
from kernel_parts import BouncingBall

import cosim


def _places(name: str) -> list[str]:
    spec = find_spec(name)
    return [] if spec is None else list(spec.submodule_search_locations or [])


ROOT = Path(__file__).resolve().parents[2]
NAMES = {"cosim": "cosim", **{p.name: f"plugins/{p.name}" for p in (ROOT / "plugins").glob("cosim_*")}}
HOMES = {Path(places[0]): NAMES[name] for name in NAMES for places in [_places(name)] if places}
"""Of our packages, where they were installed: their folders in the repository."""
RESTITUTION = 0.7312345678
"""A number that nothing else in the run is equal to."""


def file_of(frame: FrameType) -> str:
    """The file of ours that a function stands in; "" for others."""
    return file_called(frame.f_code.co_filename)


@functools.cache
def file_called(name: str) -> str:
    """The same by the name of the file; cached, since each call and return needs it."""
    path = Path(name)
    home = next((home for home in HOMES if home in path.parents), None)
    return "" if home is None else f"{HOMES[home]}/{path.relative_to(home).as_posix()}"


def stack_between(frame: FrameType, first: str) -> list[str]:
    """The files on the stack from the outermost call of the function `first` inward; empty without a call."""
    files: list[str] = []
    inner_files: list[str] = []
    caller: FrameType | None = frame
    while caller is not None:
        files.insert(0, file_of(caller))
        if caller.f_code.co_qualname == first:
            inner_files = list(files)
        caller = caller.f_back
    return [*dict.fromkeys(filter(None, inner_files))]


def holds(value: Any, depth: int = 0) -> bool:
    """Whether a variable of a function is the number, or a small collection or a single element with it."""
    if isinstance(value, float | np.floating):
        return bool(value == RESTITUTION)
    if isinstance(value, np.ndarray):
        return value.size == 1 and value.dtype.kind == "f" and bool(value.flat[0] == RESTITUTION)
    if depth < 2 and isinstance(value, tuple | list) and len(value) < 20:
        return any(holds(item, depth + 1) for item in value)
    if depth < 2 and isinstance(value, dict) and len(value) < 20:
        return any(holds(item, depth + 1) for item in value.values())
    return False


class Walks:
    """Notes while functions are called and return."""

    def __init__(self) -> None:
        self.event: list[str] = []
        self.remembered: list[str] = []
        self.read: dict[str, None] = {}
        self.parameter: dict[str, None] = {}
        self._reading: FrameType | None = None

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        if event not in ("call", "return"):
            return
        name = frame.f_code.co_qualname
        if event == "call":
            if name == "BouncingBall.bounce" and not self.event:
                self.event = stack_between(frame, "Simulator.advance_to")
            elif name == "History.append" and not self.remembered:
                self.remembered = stack_between(frame, "remember_step")
            elif name == "Delay.from_the_past" and self._reading is None:
                self._reading = frame
        if self._reading is not None and (file := file_of(frame)):
            self.read[file] = None
        if event == "return" and frame is self._reading:
            self._reading = None
        file = file_of(frame)
        if file and file not in self.parameter and any(map(holds, frame.f_locals.values())):
            self.parameter[file] = None

    def during(self, action: Callable[[], Any]) -> Any:
        """Call something, and note what it passes."""
        sys.setprofile(self)
        try:
            return action()
        finally:
            sys.setprofile(None)


def build() -> cosim.System:
    """A bouncing ball and a delay."""
    model = cosim.Model("ball")
    model.add(BouncingBall, "ball", restitution=RESTITUTION)
    model.add("measures.delay", "late", source="ball.height", delay=0.15)
    return model.build()


def main() -> None:
    """Print the walks."""
    walks = Walks()
    build()  # modules are loaded, and adapters made
    system = walks.during(build)
    simulator = cosim.Simulator(system, accuracy=1e-3)
    simulator.initialize()
    walks.during(lambda: simulator.advance_to(0.5))
    assert simulator.state.clock.time == 0.5
    files = {name: list(getattr(walks, name)) for name in ("event", "remembered", "read", "parameter")}
    print(json.dumps({**files, "bounces": int(simulator.state["ball.bounces"])}))


if __name__ == "__main__":
    main()
