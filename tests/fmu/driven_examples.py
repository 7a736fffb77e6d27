"""The models of the examples with inputs that change; the plugins of the examples have to be installed."""

from __future__ import annotations

import zlib
from pathlib import Path

from driven import Driven

import cosim
from cosim_export.interface.fmu_options import FmuOptions
from cosim_mechanics import Multibody

EXAMPLES = Path(__file__).parents[2] / "examples"
FILES = {p.stem: p for p in sorted(EXAMPLES.glob("*/*.toml")) if p.stem not in ("loop", "pyproject")}
THIRD_PARTY = "third_party_plugin"
NAMES = [*FILES, THIRD_PARTY]
LONGEST = 2.0
"""Longest time to simulate, s, whatever the file says: in plain Python 2 s take a minute in some examples."""


def driven_model(name: str) -> Driven:
    """The model of an example, run to the end that its file says, with values for all inputs."""
    model = sliding_mass() if name == THIRD_PARTY else cosim.Model.from_file(FILES[name])
    options = FmuOptions().settings(model)
    settings = {key: options[key] for key in ("integrator", "accuracy")} | options["integrator_options"]
    until = min(options["stop_time"] or LONGEST, LONGEST)
    return Driven(model, settings, zlib.crc32(name.encode()), model.build().inputs, until=until)


def sliding_mass() -> Multibody:
    """A mass on a slider with the element of a third party: that example is a plugin without a model."""
    model = Multibody("sliding_mass", gravity=(0.0, 0.0, 0.0))
    cart = model.body("cart", mass=2.0, inertia=(0.0, 0.0, 0.0))
    model.joint("slider", child=cart, name="rail", q=1.0, u=3.0)
    model.add("acme.quadratic_damper", "damper", body1="ground", body2=cart, damping=5.0)
    return model
