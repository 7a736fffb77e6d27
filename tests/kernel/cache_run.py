"""A process: computes with one component and writes the result, and the notes on what it had to compile."""

import json
import logging
import math

import cosim
from cosim import kit


class Notes(logging.Handler):
    """Collects the log messages about compiling."""

    def __init__(self):
        super().__init__()
        self.texts = []

    def emit(self, record):
        self.texts.append(record.getMessage())


if __name__ == "__main__":  # the first class opens the folder, which may already write notes
    notes = Notes()
    logging.getLogger("cosim.native").addHandler(notes)
    logging.getLogger("cosim.native").setLevel(logging.INFO)


def curve(x):
    """A helper that the kernel function reaches by name."""
    return math.sin(x) + 1.0


def twice(helper):
    """A kernel function with a closure."""

    def doubled(x):
        return 2.0 * helper(x)

    return doubled


class Curve(cosim.Component):
    """sin(t) + 1."""

    out = cosim.output()

    @cosim.kernel
    def calc(t, out):
        out[0] = curve(t)


def results():
    """sin(0.5) + 1 as a system's output, and twice of it as a function's value."""
    model = cosim.Model("curve")
    model.add(Curve, "curve")
    state = model.build().default_state()
    state.set_time(0.5)
    return state.realize()["curve"], kit.compile_function(twice(curve), "f>f")(0.5)


if __name__ == "__main__":
    value, doubled = results()
    assert doubled == 2.0 * value
    print(json.dumps({"value": float.hex(value), "notes": notes.texts}))
