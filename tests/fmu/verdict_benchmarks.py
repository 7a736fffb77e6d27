"""The couplings, verdicts and advice of benchmarks/masters, and models of one of their components."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import cosim

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "masters"))
import advice  # noqa: E402
import drawn_systems  # noqa: E402
import verdicts  # noqa: E402
from drawn_parts import Gain, Integrator, Lag, Mass, Source, Spring  # noqa: E402

__all__ = [
    "Gain",
    "Integrator",
    "Lag",
    "Mass",
    "Source",
    "Spring",
    "advice",
    "drawn_systems",
    "part",
    "verdicts",
]


def part(kind: type[cosim.Component], **values: Any) -> cosim.Model:
    """A model of the component ``part``; values named ``start_x`` are start values, others parameters."""
    model = cosim.Model(kind.__name__.lower())
    starts = {key: value for key, value in values.items() if key.startswith("start_")}
    model.add(kind, "part", **{key: value for key, value in values.items() if key not in starts})
    for key, value in starts.items():
        model.set_start(f"part.{key.removeprefix('start_')}", value)
    return model
