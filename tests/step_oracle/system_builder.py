"""Draws the parts of random systems: clocks, witnesses, endless events, measures, mechanisms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import oracle_clocks as clocks
import oracle_endless as endless
import oracle_witnesses as witnesses
from draws import Draws
from oracle_joints import KickedPin, StoppedPin, StoppedSlider

import cosim
from cosim_mechanics import Multibody

MEASURES = ("delay",) * 5 + ("variable_delay", "differentiate", "minimum", "maximum", "min_abs", "max_abs")
MEASURES += (
    "sample_and_hold",
    "first_order_filter",
    "rate_limiter",
    "sliding_mean",
    "sliding_rms",
    "integrate",
)


class SystemBuilder:
    """Draws the parts of one system.

    Methods are named after the parts that they add. The order of draws is fixed: every outcome depends on it.
    """

    def __init__(self, draws: Draws, end: float) -> None:
        self.draws, self.end = draws, end
        self.added: list[tuple[Any, str, dict[str, Any]]] = []
        self.connections: list[tuple[str, str]] = []
        self.moving: list[str] = []  # positions to which inputs can be connected
        self.sources: list[str] = []  # signals that other parts may read
        self.smooth: list[str] = []  # sources without jumps
        self.writes: list[tuple[str, Callable[[], float]]] = []
        self.slopes: list[str] = []
        self.mends: list[str] = []  # times of termination or failure that can be postponed
        self.features: set[str] = set()
        self.second_order = True  # whether methods for equations of second order can be used
        self.endless = False  # whether events may have no end
        self.steps_matter = False  # whether handlers run at every step
        self.bodies: Callable[[], Multibody] | None = None
        self.mechanism_description = ""

    def add(self, kind: Any, name: str, **values: Any) -> None:
        self.added.append((kind, name, values))
        self.features.add(kind if isinstance(kind, str) else kind.__name__)

    def build(self) -> cosim.System:
        model = cosim.Model("random") if self.bodies is None else self.bodies()
        for kind, name, values in self.added:
            model.add(kind, name, **values)
        for output, target in self.connections:
            model.connect(output, target)
        return model.build()

    def descriptions(self) -> list[str]:
        """Descriptions of the parts and connections, for messages."""
        return (
            [self.mechanism_description] * bool(self.mechanism_description)
            + [
                f"{name}: {kind if isinstance(kind, str) else kind.__name__}"
                + "".join(f" {key}={_short(value)}" for key, value in values.items())
                for kind, name, values in self.added
            ]
            + [f"{output} to {target}" for output, target in self.connections]
        )

    # parts

    def answers(self) -> dict[str, float]:
        """Parameters by which handlers sometimes do nothing, and rarely stop the run or fail."""
        draws, values = self.draws, {}
        if draws.chance(0.4):
            values["idle"] = float(draws.count(2, 5))
            self.features.add("did nothing")
        if draws.chance(0.06):
            values["stop_at"] = draws.number(-0.1, 1.0) * self.end
            self.features.add("termination")
        elif draws.chance(0.04):
            values["fail_at"] = draws.number(0.3, 1.0) * self.end
            self.features.add("failure")
        return values

    def mendable(self, name: str, values: dict[str, float]) -> None:
        self.mends += [f"{name}.{key}" for key in ("stop_at", "fail_at") if key in values]

    def period(self) -> float:
        draws = self.draws
        return draws.one_of([draws.count(1, 16) / 16, 0.1, 1 / 3, 0.07, 0.3, 0.13, draws.number(0.05, 0.6)])

    def offset(self) -> float:
        draws = self.draws
        return draws.one_of([0.0, 0.0, draws.count(1, 8) / 16, 0.05, -0.4, draws.number(0.0, 0.5)])

    def clock(self, name: str) -> None:
        draws, values = self.draws, self.answers()
        values |= {"period": self.period(), "offset": self.offset(), "growth": draws.number(-0.2, 0.2)}
        self.add(clocks.Clock, name, **values)
        self.writes += [
            (f"{name}.period", self.period),
            (f"{name}.offset", self.offset),
            (f"{name}.z", lambda: draws.number(-1.0, 1.0)),
            (f"{name}.level", lambda: draws.number(-1.0, 1.0)),
        ]
        self.mendable(name, values)
        self.sources += [f"{name}.z", f"{name}.level"]
        self.second_order = False

    def beat(self, name: str) -> None:
        self.add(clocks.Beat, name, period=self.period(), offset=self.offset())
        self.writes += [(f"{name}.period", self.period), (f"{name}.v", lambda: self.draws.number(-1.0, 1.0))]
        self.sources += [f"{name}.x", f"{name}.v"]
        self.smooth.append(f"{name}.x")

    def fixed_clock(self, name: str) -> None:
        self.add(clocks.FixedClock, name)
        self.sources.append(f"{name}.z")
        self.second_order = False

    def alarm(self, name: str) -> None:
        draws = self.draws
        values = {"pause": draws.number(0.05, 0.5), "shift": draws.number(0.0, 0.2), "start": self.offset()}
        values["wake"] = draws.number(0.0, 0.5)
        self.add(clocks.Alarm, name, **values)
        self.sources.append(f"{name}.z")
        self.second_order = False

    def cascade(self, name: str) -> None:
        draws = self.draws
        raises = [float(draws.count(0, 15)) for _ in range(9)]
        raises[2:4] = [float(int(mask) & 12) for mask in raises[2:4]]  # only later ones: cascades end
        if draws.chance(0.02):
            raises[2] = 2.0
            self.features.add("signals without end")
        self.add(clocks.Cascade, name, raises=raises, period=self.period())
        self.writes += [(f"{name}.s{i}", lambda: 1.0) for i in range(4)]
        self.sources += [f"{name}.z", f"{name}.level"]
        self.second_order = False

    def every_step(self, name: str) -> None:
        values = self.answers()
        self.add(clocks.EveryStep, name, **values)
        self.mendable(name, values)
        self.sources.append(f"{name}.z")
        self.second_order, self.steps_matter = False, True

    def signs(self, name: str) -> None:
        self.add(clocks.Signs, name, turns=1.0 if self.draws.chance(0.05) else 0.0)

    def probe(self, name: str) -> None:
        draws, values = self.draws, self.answers()
        key = draws.one_of(list(witnesses.PROBES))
        roots = [draws.one_of([draws.number(-0.2, self.end), draws.count(0, 20) / 16]) for _ in range(3)]
        if draws.chance(0.2):
            roots[1] = roots[0] + draws.one_of([0.0, 1e-7, 1e-5, 1e-3, 0.01])
        self.add(witnesses.PROBES[key], name, roots=roots, **values)
        self.mendable(name, values)
        self.features.add(f"{key[0]}{' rated' * key[1]}{' condition' * key[2]}")
        self.sources.append(f"{name}.z")
        self.second_order = False

    def guard(self, name: str) -> None:
        draws = self.draws
        key = draws.one_of(list(witnesses.GUARDS))
        stride = draws.one_of([0.125, 0.03125, -0.0625, 0.3])
        watched, threshold = draws.one_of(self.sources), draws.number(-0.6, 0.9)
        self.add(witnesses.GUARDS[key], name, watched=watched, stride=stride, threshold=threshold)
        self.writes.append((f"{name}.threshold", lambda: draws.number(-0.5, 0.5)))
        self.second_order = False

    def mover(self, name: str) -> None:
        self.add(witnesses.Mover, name, speed=self.draws.one_of([-1, 1]) * self.draws.number(1.0, 4.0))
        self.sources.append(f"{name}.x")
        self.second_order = False

    def thermostat(self, name: str) -> None:
        draws = self.draws
        self.add(witnesses.Thermostat, name, power=draws.number(4.0, 12.0), loss=draws.number(1.0, 3.0))
        self.sources.append(f"{name}.x")
        self.second_order = False

    def driven(self, name: str) -> None:
        draws = self.draws
        values = {"stiffness": draws.number(2.0, 40.0), "force": draws.number(-1.0, 1.0)}
        self.add(witnesses.Driven, name, **values)
        self.writes += [
            (f"{name}.force", lambda: draws.number(-2.0, 2.0)),
            (f"{name}.x", lambda: draws.number(-1.0, 1.0)),
        ]
        self.slopes.append(f"{name}.force")
        self.input_of(f"{name}.gate", 0.4, lambda: draws.number(-1.0, 1.5))
        self.sources += [f"{name}.x", f"{name}.v", f"{name}.power"]
        self.smooth += [f"{name}.x", f"{name}.v"]
        self.moving.append(f"{name}.x")

    def input_of(self, path: str, chance: float, value: Callable[[], float]) -> None:
        """Connect an input, or let actions write to it and give it slopes."""
        if self.moving and self.draws.chance(chance):
            self.connections.append((self.draws.one_of(self.moving), path))
            self.features.add("connected input")
            return
        self.writes.append((path, value))
        self.slopes.append(path)

    def fading(self, name: str) -> None:
        self.add(witnesses.Fading, name, rate=self.draws.number(3.0, 12.0))
        self.sources.append(f"{name}.x")
        self.second_order = False

    def ball(self, name: str) -> None:
        draws = self.draws
        values = {"restitution": draws.one_of([0.8, 0.5, 0.3, 0.9, 0.0]), "height": draws.number(0.02, 1.0)}
        self.add(endless.Ball, name, **values, drift=draws.number(-1, 1))
        self.writes.append((f"{name}.speed", lambda: draws.number(-1.0, 2.0)))
        self.input_of(f"{name}.floor_height", 0.2, lambda: draws.number(-0.2, 0.1))
        self.sources += [f"{name}.height", f"{name}.speed", f"{name}.way"]
        self.endless = True

    def shaken(self, name: str) -> None:
        draws = self.draws
        values = {"swing": draws.number(0.005, 0.05), "height": draws.number(0.1, 0.6)}
        self.add(endless.Shaken, name, **values, restitution=draws.number(0.1, 0.7))
        self.sources.append(f"{name}.height")
        self.endless = True

    def stack(self, name: str) -> None:
        draws = self.draws
        low = draws.number(0.2, 0.4)
        values = {"low": low, "high": low + draws.number(0.05, 0.5), "restitution": draws.number(0.8, 0.95)}
        self.add(endless.Stack, name, **values)
        self.writes.append((f"{name}.high_speed", lambda: draws.number(0.0, 2.0)))
        self.sources.append(f"{name}.high")
        self.endless = True

    def relay(self, name: str) -> None:
        draws = self.draws
        values = {"x": draws.number(-0.5, 0.5), "drive": draws.number(0.5, 2.0)}
        self.add(endless.Relay, name, **values, strength=draws.number(0.8, 2.0))
        self.writes.append((f"{name}.drive", lambda: draws.number(0.5, 2.0)))
        self.sources.append(f"{name}.x")
        self.endless, self.second_order = True, False

    def friction(self, name: str) -> None:
        draws = self.draws
        values = {"v": draws.number(0.1, 1.0), "friction": draws.number(1.0, 3.0)}
        self.add(endless.Friction, name, **values, drive=draws.number(0.0, 5.0))
        self.sources += [f"{name}.x", f"{name}.v"]
        self.endless = True

    def gears(self, name: str) -> None:
        self.add(endless.Gears, name, x=self.draws.number(-0.4, 0.4))
        self.steps_matter = True
        self.sources.append(f"{name}.x")
        self.endless, self.second_order = True, False

    def valve(self, name: str) -> None:
        values = {"level": self.draws.number(0.05, 0.4), "inflow": self.draws.number(0.2, 0.8)}
        self.add(endless.Valve, name, **values)
        self.sources.append(f"{name}.level")
        self.endless, self.second_order = True, False

    def measure(self, name: str) -> None:
        """Add a measure of a signal; most measures have a history."""
        draws = self.draws
        kind = draws.one_of(MEASURES)
        source = draws.one_of(self.smooth if self.smooth and draws.chance(0.3) else self.sources)
        values: dict[str, Any] = {"source": source}
        if kind in ("delay", "variable_delay"):
            values |= self.delay_options()
        if kind == "delay":
            values["delay"] = draws.one_of([draws.number(0.02, 0.4), draws.count(1, 6) / 16])
            if draws.chance(0.3):
                values["longest_delay"] = values["delay"] + 0.2
                self.writes.append((f"{name}.delay", lambda: values["delay"] + draws.number(-0.01, 0.2)))
        if kind in ("delay", "variable_delay") and draws.chance(0.15):
            past = f"{name}_past"
            self.add("measures.scale", past, source=f"{name}.delayed_time", factor=draws.number(-1.0, 1.0))
            values["history"] = past
            self.features.add("history of a delay")
        if kind == "variable_delay":
            self.add(clocks.Lag, f"{name}_lag", mean=draws.number(0.15, 0.3), rate=draws.number(1.0, 3.0))
            values["delay"] = f"{name}_lag"
        if kind == "sample_and_hold":
            values |= {"period": self.period(), "offset": self.offset()}
        if kind in ("first_order_filter", "rate_limiter", "differentiate"):
            values["time_constant"] = draws.number(0.05, 0.3)
        if kind.startswith("sliding"):
            values["window"] = draws.number(0.05, 0.5)
        if kind in ("minimum", "maximum", "min_abs", "max_abs"):
            values["located"] = draws.chance(0.7)
            self.writes.append((f"{name}.best", lambda: draws.number(-0.5, 0.5)))
        self.add(f"measures.{kind}", name, **values)
        self.sources.append(name)
        if kind in ("first_order_filter", "rate_limiter", "differentiate", "integrate") or "sliding" in kind:
            self.second_order = False

    def lagging(self, name: str) -> None:
        draws = self.draws
        delay = {"source": f"{name}.y", "delay": draws.one_of([0.01, 0.25, draws.number(0.05, 0.4)])}
        self.add(clocks.Lagging, name, felt=f"{name}_delay", rate=draws.number(0.5, 4.0))
        self.add("measures.delay", f"{name}_delay", **delay, **self.delay_options(own=True))
        self.writes.append((f"{name}.y", lambda: draws.number(-1.0, 1.0)))
        self.sources += [f"{name}.y", f"{name}_delay"]
        self.second_order = False

    def delay_options(self, own: bool = False) -> dict[str, Any]:
        draws = self.draws
        kind = draws.one_of(["hermite", "dense_output", "linear"])
        long_steps = draws.one_of(["iterate", "limit", "extrapolate"])
        self.features |= {f"delay {kind}", f"delay {long_steps}"}
        values: dict[str, Any] = {"long_steps": long_steps}
        if kind == "linear":
            values["use_linear_interpolation_only"] = True
        else:
            values["interpolation"] = kind
        if not own and draws.chance(0.2):
            values["can_use_current_value"] = True
        return values

    def mechanism(self) -> None:
        """Let the model have two bodies on joints with stops or kicks, mostly with a constraint."""
        draws = self.draws
        shape = draws.one_of(["pendulum", "geared", "closed", "sliders", "latched"])
        self.features.add(f"mechanism {shape}")
        kind = draws.one_of([StoppedPin, KickedPin])
        first, second = draws.number(0.2, 1.2), draws.number(-0.9, 0.9)
        ratio, low, restitution = draws.number(-1.5, 1.5), draws.number(-0.5, 0.0), draws.number(0.0, 0.8)
        coupled = draws.one_of(["gear", "coordinate_coupler"])
        if shape in ("geared", "sliders", "pendulum"):
            self.features.add({"geared": coupled, "sliders": "rod", "pendulum": "no constraint"}[shape])

        def bodies() -> Multibody:
            model = Multibody("random", gravity=(0, -9.81, 0))
            arm = {"mass": 1.0, "center_of_mass": (0.2, 0, 0), "inertia": (0.01, 0.05, 0.05)}
            if shape == "sliders":
                model.body("a", mass=1.0, inertia=(0.1, 0.1, 0.1))
                model.body("b", mass=0.5, inertia=(0.1, 0.1, 0.1))
                model.add(StoppedSlider, "a_joint", parent="ground", child="a", q=0.1, u=first, low=low)
                model.joint("translation", name="b_joint", child="b", q=(0.1, -0.5, 0.0))
                model.add("mechanics.rod", "rod", body1="a", body2="b", length=0.5)
                return model
            model.body("a", **arm)
            hinge = {"kick": ratio} if kind is KickedPin else {"restitution": restitution}
            model.add(kind, "a_joint", parent="ground", child="a", q=second, **hinge)
            model.body("b", **arm)
            model.add("mechanics.pin", "b_joint", parent="a", child="b", frame_on_parent=(0.4, 0, 0), q=first)
            if shape == "geared":
                offset = {"offset": first - ratio * second} if coupled == "coordinate_coupler" else {}
                joints = {"coordinate1": "a_joint", "coordinate2": "b_joint"}
                model.add(f"mechanics.{coupled}", "coupling", **joints, ratio=ratio, **offset)
            if shape == "closed":
                points = {"point1": (0.4, 0, 0), "point2": (0.2, 0.9, 0)}
                model.add("mechanics.rod", "rod", body1="b", body2="ground", **points, length=1.0)
            if shape == "latched":
                model.add("mechanics.lock", "latch", coordinate="b_joint", value=first)
            return model

        self.bodies = bodies
        numbers = ", ".join(f"{number:.4g}" for number in (first, second, ratio, low, restitution))
        self.mechanism_description = f"{shape} mechanism of {kind.__name__} ({numbers}, {coupled})"
        names = ["a_joint.q[0]", "a_joint.u[0]"]
        self.sources += names
        self.writes.append(("a_joint.u[0]", lambda: draws.number(-1.0, 1.0)))
        if shape == "latched":
            self.writes.append(("latch.enabled", lambda: float(draws.count(0, 1))))
        self.second_order = False
        self.endless = True


def _short(value: Any) -> str:
    if isinstance(value, list):
        return f"[{' '.join(_short(v) for v in value)}]"
    return repr(value)
