"""Couplings of systems, drawn at random; the exact solution comes from all parts together in one model."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from drawn_parts import (
    Clutch,
    Gain,
    Inertia,
    Integrator,
    Lag,
    Mass,
    Oscillator,
    Regulator,
    Relay,
    Source,
    Spring,
    VanDerPol,
    sampler_of,
)
from numpy.typing import NDArray

import cosim
from cosim_fmu import CoSimulation, SystemParticipant

Vector = NDArray[np.float64]
Random = np.random.Generator
ALGORITHMS: list[tuple[str, dict[str, Any]]] = [
    ("jacobi", {}),
    ("jacobi", {}),
    ("gauss_seidel", {}),
    ("gauss_seidel", {}),
    ("jacobi", {"extrapolation": 1}),
    ("gauss_seidel", {"extrapolation": 1}),
    ("waveform_iteration", {}),
    ("interface_newton", {}),
    ("interface_newton", {"hold": "line"}),
    ("adaptive", {"tolerance": 1e-3, "absolute_tolerance": 1e-5}),
]
ALGORITHMS_WITH_ROLLBACK = 4
"""How many algorithms, the last ones, repeat steps: relays and samplers are not run with these."""
ACCURACY, TRUTH = 1e-9, 1e-11
"""The accuracies of the participants, and of the one model that gives the exact solution."""
SIDE_DISTANCE = 1e-7
"""How far before and after a time values are taken on its two sides, relative to the step."""


@dataclass
class DrawnCoupling:
    """Parts, each a component with its values, and connections of their variables.

    Attributes
    ----------
    kind : str
    parts : dict of str to (class, values of parameters and starts)
    links : list of (str, str)
    until, step : float
    algorithm : str
    options : dict
    records : list of str
        Signals that are recorded and judged besides those that are by default.
    """

    kind: str
    parts: dict[str, tuple[type[cosim.Component], dict[str, float]]]
    links: list[tuple[str, str]]
    until: float
    step: float
    algorithm: str = "jacobi"
    options: dict[str, Any] = field(default_factory=dict)
    records: list[str] = field(default_factory=list)

    def loop(self, step: float | None = None) -> CoSimulation:
        """The co-simulation: each part is a participant."""
        participants = {
            name: SystemParticipant(self._model([name]), accuracy=ACCURACY) for name in self.parts
        }
        links = [(_in_participant(source), _in_participant(target)) for source, target in self.links]
        return CoSimulation(participants, links, self.algorithm, step or self.step, options=self.options)

    def exact_outputs(self, times: Vector) -> dict[str, Vector]:
        """The values of the parts in one model right before and right after each of these times (s).

        Returns
        -------
        dict of str to ndarray, shape (n, 2)
            By signal, a row for each time. Of rows with one time the first has the value before it in both
            columns, the last one the value after it.
        """
        model = self._model(list(self.parts))
        for one, two in self.links:
            model.connect(one, two)
        names = self.signals()
        simulator = cosim.Simulator(system := model.build(), system.default_state(), accuracy=TRUTH)
        simulator.initialize()
        apart = SIDE_DISTANCE * self.step

        def values_at(time: float) -> list[float]:
            if time > simulator.state.time:
                simulator.advance_to(time)
            simulator.state.realize(cosim.Stage.REPORT)
            return [float(np.ravel(system.read(simulator.state, name))[0]) for name in names]

        points, places = np.unique(times, return_inverse=True)
        pairs = [(values_at(time - apart), values_at(time + apart)) for time in points.tolist()]
        sides = np.array(pairs)[places]
        first, last = np.diff(times, prepend=-np.inf) > 0.0, np.diff(times, append=np.inf) > 0.0
        alone = first & last
        sides[first & ~alone, 1] = sides[first & ~alone, 0]
        sides[last & ~alone, 0] = sides[last & ~alone, 1]
        return dict(zip(map(_in_participant, names), np.moveaxis(sides, 2, 0), strict=True))

    def signals(self) -> list[str]:
        """The compared signals: all outputs and states."""
        model = self._model(list(self.parts))
        kinds = ("output", "position", "speed", "auxiliary")
        return [v.path for v in model.build().variables.values() if v.kind in kinds]

    def _model(self, names: list[str]) -> cosim.Model:
        model = cosim.Model("drawn" if len(names) > 1 else names[0])
        for name in names:
            kind, values = self.parts[name]
            starts = {key[6:]: value for key, value in values.items() if key.startswith("start_")}
            model.add(kind, name, **{k: v for k, v in values.items() if not k.startswith("start_")})
            for variable, value in starts.items():
                model.set_start(f"{name}.{variable}", value)
        return model


def _in_participant(path: str) -> str:
    """A signal's name in the co-simulation, where a part is a participant: ``mass.x`` is ``mass.mass.x``."""
    return f"{path.partition('.')[0]}.{path}"


def _log_uniform(random: Random, low: float, high: float) -> float:
    return float(np.exp(random.uniform(np.log(low), np.log(high))))


def _stiff(random: Random) -> DrawnCoupling:
    """Masses between springs, one of them stiff: forces and motions are exchanged."""
    count = int(random.integers(1, 4))
    parts: dict[str, Any] = {}
    links = []
    fastest = 0.0
    stiff = int(random.integers(count + 1))
    last_free = bool(random.random() < 0.4)
    for i in range(count):
        parts[f"m{i}"] = (
            Mass,
            {"mass": _log_uniform(random, 0.3, 3.0), "start_x": float(random.normal()), "start_v": 0.0},
        )
    for i in range(count + 1 - last_free):
        k = _log_uniform(random, 0.5, 5.0) * (_log_uniform(random, 20.0, 2000.0) if i == stiff else 1.0)
        light = min(parts[f"m{j}"][1]["mass"] for j in (i - 1, i) if 0 <= j < count)
        c = random.choice([0.02, 0.2, 1.0]) * math.sqrt(k * light)
        fastest = max(fastest, math.sqrt(2.0 * k / light) + c / light)
        parts[f"s{i}"] = (
            Spring,
            {"stiffness": k, "damping": float(c), "cubic": float(random.choice([0.0, 0.0, 0.3 * k]))},
        )
        if i > 0:
            links += [
                (f"m{i - 1}.x", f"s{i}.x1"),
                (f"m{i - 1}.v", f"s{i}.v1"),
                (f"s{i}.on1", f"m{i - 1}.right"),
            ]
        if i < count:
            links += [(f"m{i}.x", f"s{i}.x2"), (f"m{i}.v", f"s{i}.v2"), (f"s{i}.on2", f"m{i}.left")]
    step = _log_uniform(random, 0.01, 0.3) / fastest
    until = min(float(random.choice([3.0, 10.0])), 3000 * step)
    return DrawnCoupling("stiff", parts, links, until, step)


def _chain(random: Random) -> DrawnCoupling:
    """A source and blocks behind each other."""
    frequency = _log_uniform(random, 0.5, 5.0)
    shape = int(random.integers(3))
    signal = [
        {"amplitude": 1.0, "frequency": frequency, "phase": float(random.uniform(0, 6))},
        {"amplitude": 0.0, "slope": float(random.uniform(0.2, 2.0))},
        {"amplitude": 0.5, "frequency": frequency, "slope": float(random.uniform(-1, 1)), "offset": 1.0},
    ][shape]
    parts: dict[str, Any] = {"source": (Source, signal)}
    links, before, fastest = [], "source.y", frequency
    for i in range(int(random.integers(1, 6))):
        kind = [Lag, Oscillator, Integrator, Gain][int(random.integers(4))]
        values: dict[str, float] = {}
        if kind is Lag:
            values = {"time": _log_uniform(random, 0.05, 3.0), "gain": float(random.normal())}
            fastest = max(fastest, 1.0 / values["time"])
        elif kind is Oscillator:
            values = {
                "frequency": _log_uniform(random, 0.5, 10.0),
                "ratio": float(random.choice([0.05, 0.3, 1.0])),
            }
            fastest = max(fastest, values["frequency"])
        elif kind is Gain:
            values = {"gain": float(random.normal()), "limit": float(random.choice([0.0, 0.5]))}
        else:
            values = {"gain": float(random.normal())}
        parts[f"b{i}"] = (kind, values)
        links.append((before, f"b{i}.u"))
        before = f"b{i}.y"
    until = float(random.choice([2.0, 6.0, 20.0]))
    step = max(_log_uniform(random, 0.005, 0.3) / fastest, until / 3000)
    return DrawnCoupling("chain", parts, links, until, step)


def _control(random: Random) -> DrawnCoupling:
    """A continuous controller around one to three blocks."""
    parts: dict[str, Any] = {
        "regulator": (
            Regulator,
            {
                "kp": _log_uniform(random, 0.3, 3.0),
                "ki": float(random.choice([0.0, 0.5])),
                "reference": float(random.uniform(0.5, 2)),
                "frequency": float(random.choice([0.0, 0.7])),
            },
        )
    }
    links, before, fastest = [], "regulator.u", 1.0
    for i in range(int(random.integers(1, 4))):
        time = _log_uniform(random, 0.1, 2.0) / (1.0 + 4.0 * i)
        parts[f"b{i}"] = (Lag, {"time": time, "start_x": float(random.normal())})
        fastest = max(fastest, 1.0 / time)
        links.append((before, f"b{i}.u"))
        before = f"b{i}.y"
    links.append((before, "regulator.y"))
    until = float(random.choice([3.0, 10.0]))
    step = max(_log_uniform(random, 0.01, 0.3) / fastest, until / 3000)
    return DrawnCoupling("control", parts, links, until, step)


def _sampled(random: Random) -> DrawnCoupling:
    """A sampled controller and a plant of one or two blocks."""
    period, exchanges = float(random.choice([0.05, 0.1, 0.2])), int(random.choice([1, 2, 5]))
    parts: dict[str, Any] = {
        "controller": (
            sampler_of(period),
            {"kp": _log_uniform(random, 0.3, 2.0), "reference": float(random.uniform(0.5, 2))},
        ),
        "plant": (Lag, {"time": _log_uniform(random, 0.3, 2.0), "start_x": float(random.normal())}),
    }
    links = [("controller.u", "plant.u")]
    if random.random() < 0.5:
        parts["sensor"] = (Lag, {"time": _log_uniform(random, 0.05, 0.5)})
        links += [("plant.y", "sensor.u"), ("sensor.y", "controller.y")]
    else:
        links.append(("plant.y", "controller.y"))
    return DrawnCoupling("sampled", parts, links, float(random.choice([4.0, 10.0])), period / exchanges)


def _relay(random: Random) -> DrawnCoupling:
    """A relay with hysteresis, a heater and a room."""
    low = float(random.uniform(0.3, 0.5))
    parts: dict[str, Any] = {
        "relay": (
            Relay,
            {
                "low": low,
                "high": low + float(random.uniform(0.05, 0.3)),
                "power": float(random.uniform(1.0, 2.0)),
            },
        ),
        "heater": (Lag, {"time": _log_uniform(random, 0.1, 0.5)}),
        "room": (Lag, {"time": _log_uniform(random, 0.5, 2.0), "start_x": 0.0}),
    }
    links = [("relay.u", "heater.u"), ("heater.y", "room.u"), ("room.y", "relay.y")]
    until = float(random.choice([5.0, 10.0]))
    return DrawnCoupling("relay", parts, links, until, _log_uniform(random, 0.002, 0.05))


def _clutch(random: Random) -> DrawnCoupling:
    """Two shafts and a clutch that is pressed on the way."""
    until = float(random.choice([4.0, 8.0]))
    width = _log_uniform(random, 0.05, 0.5)
    light = _log_uniform(random, 0.2, 1.0)
    torque = _log_uniform(random, 1.0, 5.0)
    parts: dict[str, Any] = {
        "motor": (
            Inertia,
            {
                "inertia": light,
                "drag": 0.1,
                "drive": float(random.uniform(0.5, 2)),
                "start_w": float(random.uniform(0, 5)),
            },
        ),
        "load": (
            Inertia,
            {"inertia": _log_uniform(random, 0.5, 3.0), "drag": float(random.uniform(0.05, 0.5))},
        ),
        "clutch": (
            Clutch,
            {
                "torque": torque,
                "width": width,
                "pressed_at": float(random.uniform(0.2, 0.6)) * until,
                "rise": _log_uniform(random, 0.02, 0.3),
            },
        ),
    }
    links = [
        ("motor.w", "clutch.w1"),
        ("load.w", "clutch.w2"),
        ("clutch.on1", "motor.torque"),
        ("clutch.on2", "load.torque"),
    ]
    rate = torque / width / light
    return DrawnCoupling(
        "clutch", parts, links, until, max(_log_uniform(random, 0.02, 0.5) / rate, until / 4000)
    )


def _play(random: Random) -> DrawnCoupling:
    """Two masses and a spring with play between, one of them on a spring."""
    k = _log_uniform(random, 2.0, 100.0)
    parts: dict[str, Any] = {
        "a": (
            Mass,
            {
                "mass": _log_uniform(random, 0.5, 2.0),
                "start_x": 0.0,
                "start_v": float(random.uniform(0.5, 2)),
            },
        ),
        "b": (Mass, {"mass": _log_uniform(random, 0.5, 2.0), "start_x": 0.0}),
        "gap": (
            Spring,
            {"stiffness": k, "damping": 0.1 * math.sqrt(k), "play": float(random.uniform(0.05, 0.3))},
        ),
        "hold": (Spring, {"stiffness": _log_uniform(random, 0.5, 5.0), "damping": 0.2}),
    }
    links = [
        ("a.x", "gap.x1"),
        ("a.v", "gap.v1"),
        ("b.x", "gap.x2"),
        ("b.v", "gap.v2"),
        ("gap.on1", "a.right"),
        ("gap.on2", "b.left"),
    ]
    links += [("b.x", "hold.x1"), ("b.v", "hold.v1"), ("hold.on1", "b.right")]
    return DrawnCoupling(
        "play",
        parts,
        links,
        float(random.choice([3.0, 8.0])),
        _log_uniform(random, 0.005, 0.2) / math.sqrt(2 * k),
    )


def _pulled(random: Random) -> DrawnCoupling:
    """Two oscillators of van der Pol that pull at each other."""
    parts: dict[str, Any] = {
        n: (
            VanDerPol,
            {
                "mu": _log_uniform(random, 0.3, 4.0),
                "pull": float(random.uniform(0.1, 1.0)),
                "start_x": float(random.normal()),
                "start_v": 0.5,
            },
        )
        for n in ("one", "two")
    }
    links = [("one.x", "two.other"), ("two.x", "one.other")]
    return DrawnCoupling(
        "pulled", parts, links, float(random.choice([5.0, 15.0])), _log_uniform(random, 0.005, 0.1)
    )


DRAW_FUNCTIONS: dict[str, Callable[[Random], DrawnCoupling]] = {
    "stiff": _stiff,
    "chain": _chain,
    "control": _control,
    "sampled": _sampled,
    "relay": _relay,
    "clutch": _clutch,
    "play": _play,
    "pulled": _pulled,
}
KINDS = tuple(DRAW_FUNCTIONS)


def draw(seed: int) -> DrawnCoupling:
    """The coupling of this number; kinds take turns, all else is random."""
    random = np.random.default_rng(seed)
    drawn = DRAW_FUNCTIONS[KINDS[seed % len(KINDS)]](random)
    count = (
        len(ALGORITHMS) - ALGORITHMS_WITH_ROLLBACK if drawn.kind in ("sampled", "relay") else len(ALGORITHMS)
    )
    drawn.algorithm, drawn.options = ALGORITHMS[int(random.integers(count))]
    drawn.step = drawn.until / math.ceil(drawn.until / drawn.step - 1e-9)
    return drawn
