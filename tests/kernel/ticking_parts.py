"""Parts whose handlers store when they ran, and the ticks that they have on paper."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import cosim


def ticking(**periods: Any) -> type[cosim.Component]:
    """A class of parts with a handler for each period, or pair of a period and an offset.

    The handlers append their times and names to the list `notes` of the class. The period of a handler whose
    name begins with ``p_`` is a parameter.
    """
    body: dict[str, Any] = {"__doc__": "Notes its ticks.", "notes": [], "x": cosim.auxiliary_state()}

    def derivatives(x_dot: Any) -> None:
        x_dot[0] = 1.0

    body["derivatives"] = cosim.kernel(derivatives)
    for name, timing in periods.items():
        period, offset = timing if isinstance(timing, tuple) else (timing, 0.0)
        if isinstance(period, float) and name.startswith("p_"):
            body[f"of_{name}"] = cosim.parameter(unit="s", default=period)
            period = f"of_{name}"

        def note(self: Any, state: Any, next_state: Any, handler: str = name) -> None:
            self.notes.append((state.time, handler))

        note.__name__ = name
        body[name] = cosim.every(period, offset=offset, does="discrete")(note)
    return type("Ticking", (cosim.Component,), body)


def simulator_of(part: type[cosim.Component], start: float = 0.0, **options: Any) -> cosim.Simulator:
    """A simulator of a system of one part, ``part``, from a time on."""
    model = cosim.Model("ticks")
    model.add(part, "part")
    system = model.build()
    state = system.default_state()
    state.set_time(start)
    return cosim.Simulator(system, state, **{"accuracy": 1e-6, **options})


def on_paper(periods: dict[str, tuple[Fraction, Fraction]], start: Fraction, end: Fraction) -> list[Any]:
    """All ticks from `start` up to before `end`, in order; those of one instant in order of declaration."""
    ticks = []
    for place, (name, (period, offset)) in enumerate(periods.items()):
        i = max(0, math.ceil((start - offset) / period))
        while offset + i * period < end:
            ticks.append((offset + i * period, place, name))
            i += 1
    return [(float(time), name) for time, _, name in sorted(ticks)]
