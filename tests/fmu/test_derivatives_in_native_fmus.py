"""Native FMUs with derivatives along the run as outputs have the bytes of the run in Python."""

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
import pytest
from native_tools import export_native, needs_compiler

import cosim
from cosim_export.interface.first_state import first_state

pytestmark = needs_compiler


class Ball(cosim.Component):
    """Law: height' = speed, speed' = -g + push; at the floor speed becomes -e speed.

    Its `energy` is an output of the state.
    """

    e = cosim.parameter(default=0.8)
    push = cosim.input(unit="m/s2")
    height = cosim.position(unit="m", start=1.0)
    speed = cosim.speed(unit="m/s")
    energy = cosim.output(unit="J/kg")

    @cosim.kernel
    def derivatives(push, speed, height_dot, speed_dot):
        height_dot[0] = speed
        speed_dot[0] = -9.81 + push

    @cosim.kernel
    def outputs(height, speed, energy):
        energy[0] = 9.81 * height + 0.5 * speed * speed

    @cosim.witness(direction="falling")
    def floor(height):
        return height

    @cosim.on(floor, does="unrestricted")
    @cosim.kernel
    def bounce(e, speed, speed_next):
        speed_next[0] = -e * speed


class Late(cosim.Component):
    """Law: x' = -rate late, where `late` is an input."""

    rate = cosim.parameter(default=1.0, unit="1/s")
    late = cosim.input()
    x = cosim.auxiliary_state(start=1.0)

    @cosim.kernel
    def derivatives(rate, late, x_dot):
        x_dot[0] = -rate * late


class Sampled(cosim.Component):
    """Law: x' = gain held - x^3, where `held` follows 1 - x each 0.25 s."""

    gain = cosim.parameter(default=4.0)
    x = cosim.auxiliary_state(start=0.2)
    held = cosim.discrete()

    @cosim.kernel
    def derivatives(gain, x, held, x_dot):
        x_dot[0] = gain * held - x * x * x

    @cosim.every(0.25, does="discrete")
    @cosim.kernel
    def sample(x, held_next):
        held_next[0] = 1.0 - x


def ball() -> cosim.Model:
    model = cosim.Model("ball")
    model.add(Ball(), "b")
    return model


def late() -> cosim.Model:
    model = cosim.Model("late")
    model.add(Late(), "p")
    model.add("measures.delay", "d", source="p.x", delay=0.3, default_value=1.0)
    model.connect("d.value", "p.late")
    return model


def sampled() -> cosim.Model:
    model = cosim.Model("sampled")
    model.add(Sampled(), "s")
    return model


def rows_of_run(
    model: cosim.Model, by: Sequence[str], of: Sequence[str], times: Sequence[float], **options: Any
) -> np.ndarray:
    """The derivatives in this process, with a step that ends at each time; shape (times, by, of)."""
    system = model.build()
    simulator = cosim.Simulator(system, first_state(system), **options)
    carried = simulator.carry_tangents(by)
    simulator.initialize()
    simulator.record(list(of), "events")
    rows = []
    for time in times:
        if time > 0.0:
            simulator.advance_to(time)
        simulator.record_now()
        simulator.end_tape()
        rows.append(carried.take_rows(len(of))[-1])
    return np.array(rows).reshape(len(times), len(by), len(of))


def rows_of_fmu(path: Path, by: Sequence[str], of: Sequence[str], times: Sequence[float]) -> np.ndarray:
    """The derivatives of an FMU in a host; shape (times, by, of)."""
    names = [f"'d({x})/d({p})'" for p in by for x in of]
    rows = []
    with Host(path) as host:
        for before, time in zip([0.0, *times], times, strict=False):
            if time > before:
                host.step(before, time - before)
            rows.append(host.read(names))
    return np.array(rows).reshape(len(times), len(by), len(of))


class Host:
    """An initialized instance of an FMU of FMI 2.0 or 3.0 in fmpy."""

    def __init__(self, path: Path, starts: Mapping[str, float] | None = None) -> None:
        description = fmpy.read_model_description(str(path))
        self.references = {v.name: v.valueReference for v in description.modelVariables}
        self.fmu = fmpy.instantiate_fmu(
            fmpy.extract(str(path)), description, "CoSimulation", debug_logging=True
        )
        self.is_fmi3 = description.fmiVersion.startswith("3")
        if not self.is_fmi3:
            self.fmu.setupExperiment(startTime=0.0)
        self.fmu.enterInitializationMode()
        for name, value in (starts or {}).items():
            self.write(name, value)
        self.fmu.exitInitializationMode()

    def __enter__(self) -> "Host":
        return self

    def __exit__(self, *_: object) -> None:
        self.fmu.terminate()
        self.fmu.freeInstance()

    def step(self, time: float, size: float) -> None:
        self.fmu.doStep(time, size)

    def read(self, names: Sequence[str]) -> list[float]:
        references = [self.references[name] for name in names]
        return list((self.fmu.getFloat64 if self.is_fmi3 else self.fmu.getReal)(references))

    def write(self, name: str, value: float) -> None:
        (self.fmu.setFloat64 if self.is_fmi3 else self.fmu.setReal)([self.references[name]], [value])

    def save(self) -> Any:
        return (self.fmu.getFMUState if self.is_fmi3 else self.fmu.getFMUstate)()

    def restore(self, state: Any) -> None:
        (self.fmu.setFMUState if self.is_fmi3 else self.fmu.setFMUstate)(state)

    def directional(self, unknown: str, known: str) -> None:
        unknowns, knowns = [self.references[unknown]], [self.references[known]]
        self.fmu.getDirectionalDerivative(unknowns, knowns, [1.0])


TIMES = [0.1 * i for i in range(21)]
DEFAULT, MERSON = "integrators.dormand_prince", "integrators.runge_kutta_merson"
OTHER_METHOD = pytest.mark.thorough
"""Compiling the tangents of a method takes seconds; a short run has those of the default one."""
CASES = [
    (ball, ["b.e", "b.height", "b.push"], ["b.height", "b.speed", "b.energy"], DEFAULT, 2),
    (late, ["d.delay", "p.rate", "p.x"], ["p.x"], DEFAULT, 2),
    (sampled, ["s.gain", "s.x"], ["s.x", "s.held"], DEFAULT, 3),
    pytest.param(ball, ["b.e", "b.height"], ["b.height"], "integrators.radau5", 3, marks=OTHER_METHOD),
    pytest.param(
        ball, ["b.e", "b.height", "b.push"], ["b.height", "b.energy"], MERSON, 2, marks=OTHER_METHOD
    ),
    pytest.param(late, ["d.delay", "p.rate", "p.x"], ["p.x"], MERSON, 2, marks=OTHER_METHOD),
]


@pytest.mark.few(2)
@pytest.mark.parametrize(("make", "by", "of", "integrator", "version"), CASES)
def test_derivatives_have_the_bytes_of_the_run_in_python(
    make: Callable[[], cosim.Model],
    by: list[str],
    of: list[str],
    integrator: str,
    version: int,
    tmp_path: Path,
) -> None:
    options = {"integrator": integrator, "accuracy": 1e-8}
    path = export_native(make(), tmp_path / "fmu.fmu", derivatives=by, outputs=of, fmi=version, **options)
    rows = rows_of_fmu(path, by, of, TIMES)
    assert rows.tobytes() == rows_of_run(make(), by, of, TIMES, **options).tobytes()
    assert np.isfinite(rows).all() and abs(rows[-1]).min() > 0.0


@pytest.fixture(scope="module", params=[2, 3])
def bouncing(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ball") / f"ball{request.param}.fmu"
    return export_native(
        ball(),
        path,
        derivatives=["b.e", "b.height", "b.push"],
        outputs=["b.height", "b.energy"],
        fmi=request.param,
        accuracy=1e-10,
    )


def height_at_end(path: Path, start: float, push: float, write_at: float) -> float:
    """The height at 1.2 s if the push grows by 3 m/s2 at `write_at`."""
    with Host(path, {"b.height": start, "b.push": push}) as host:
        host.step(0.0, write_at)
        host.write("b.push", push + 3.0)
        host.step(write_at, 1.2 - write_at)
        return host.read(["b.height"])[0]


@pytest.mark.few(1)
@pytest.mark.parametrize("write_at", [0.3, 0.7])
def test_values_that_a_host_sets_in_a_run_are_constants(bouncing: Path, write_at: float) -> None:
    """The derivatives agree with differences of runs in which the host sets the push at the same time.

    0.3 s is before the first bounce, 0.7 s after it.
    """
    with Host(bouncing, {"b.push": 0.5}) as host:
        host.step(0.0, write_at)
        host.write("b.push", 3.5)
        host.step(write_at, 1.2 - write_at)
        derivatives = host.read(["'d(b.height)/d(b.height)'", "'d(b.height)/d(b.push)'"])
    h = 1e-4
    low, high = (height_at_end(bouncing, 1.0 + moved, 0.5, write_at) for moved in (-h, h))
    by_height = (high - low) / (2 * h)
    low, high = (height_at_end(bouncing, 1.0, 0.5 + moved, write_at) for moved in (-h, h))
    by_push = (high - low) / (2 * h)
    assert derivatives == pytest.approx([by_height, by_push], rel=1e-6)


def test_derivatives_are_saved_and_restored(bouncing: Path) -> None:
    names = [f"'d(b.energy)/d({by})'" for by in ("b.e", "b.height", "b.push")]
    with Host(bouncing) as host:
        host.step(0.0, 0.7)
        saved = host.save()
        ends = []
        for _ in range(2):
            host.step(0.7, 0.9)
            ends.append(host.read(names))
            host.restore(saved)
        assert ends[0] == ends[1] != host.read(names)


def test_directional_derivatives_between_steps_change_nothing(bouncing: Path) -> None:
    name = "'d(b.energy)/d(b.e)'"
    with Host(bouncing) as undisturbed, Host(bouncing) as asked:
        for host in (undisturbed, asked):
            host.step(0.0, 0.7)
        asked.directional("der(b.speed)", "b.push")
        for host in (undisturbed, asked):
            host.step(0.7, 0.9)
        assert undisturbed.read([name]) == pytest.approx(asked.read([name]), rel=1e-14)


def test_event_mode_does_not_change_derivatives(bouncing: Path) -> None:
    """In event mode of FMI 3.0 the host ends steps at events; FMI 2.0 has no event mode for Co-Simulation."""
    names = [f"'d(b.height)/d({by})'" for by in ("b.e", "b.height")]
    runs = [
        fmpy.simulate_fmu(
            str(bouncing),
            fmi_type="CoSimulation",
            stop_time=2.0,
            output_interval=0.1,
            output=names,
            early_return_allowed=has_events,
            use_event_mode=has_events,
        )
        for has_events in (False, True)
    ]
    ends = [[run[name][-1] for name in names] for run in runs]
    assert ends[0] == pytest.approx(ends[1], rel=1e-12)
    assert ends[0] == pytest.approx([2.4993241133170887, 0.42661086416352934], rel=1e-9)  # the closed form


class TwoEvents(cosim.Component):
    """Law: y' = 1; at y = c x is doubled, at y = d reduced by 0.5; the order depends on c - d."""

    c = cosim.parameter(default=0.5)
    d = cosim.parameter(default=0.5)
    y = cosim.auxiliary_state(start=0.0)
    x = cosim.auxiliary_state(start=1.0)

    @cosim.kernel
    def derivatives(y_dot, x_dot):
        y_dot[0] = 1.0
        x_dot[0] = 0.0

    @cosim.witness(direction="rising")
    def first(y, c):
        return y - c

    @cosim.witness(direction="rising")
    def second(y, d):
        return y - d

    @cosim.on(first, does="unrestricted")
    @cosim.kernel
    def double(x, x_next):
        x_next[0] = 2.0 * x

    @cosim.on(second, does="unrestricted")
    @cosim.kernel
    def lose(x, x_next):
        x_next[0] = x - 0.5


def test_a_derivative_that_does_not_exist_is_nan_and_the_log_says_why(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    model = cosim.Model("two")
    model.add(TwoEvents(), "m")
    path = export_native(model, tmp_path / "two.fmu", derivatives=["m.c"], outputs=["m.x"])
    with Host(path) as host:
        host.step(0.0, 0.4)
        assert host.read(["'d(m.x)/d(m.c)'"]) == [0.0]
        host.step(0.4, 0.4)
        assert all(map(math.isnan, host.read(["'d(m.x)/d(m.c)'"])))
        assert not math.isnan(host.read(["m.x"])[0])
        host.step(0.8, 0.2)
    assert capfd.readouterr().out.count("order changes") == 1
    # the events are closer to each other than the accuracy: the derivative is that of one side
    with Host(path, {"m.d": 0.5 + 1e-8}) as host:
        host.step(0.0, 0.4)
        assert "one side" not in capfd.readouterr().out
        host.step(0.4, 0.4)
        assert host.read(["m.x", "'d(m.x)/d(m.c)'"]) == [1.5, 0.0]
        host.step(0.8, 0.2)
    assert capfd.readouterr().out.count("those of one side") == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kind": "cs,me"}, ["cs"]),
        ({"sources": True}, ["printed"]),
        ({"derivatives": ["b.e", "b.nothing"]}, ["b.nothing"]),
    ],
)
def test_exports_that_cannot_have_derivatives_are_refused(
    options: dict[str, Any], words: list[str], tmp_path: Path
) -> None:
    with pytest.raises(cosim.ModelError) as error:
        export_native(ball(), tmp_path / "ball.fmu", **{"derivatives": ["b.e"], **options})
    assert all(word in str(error.value) for word in words)
    assert not (tmp_path / "ball.fmu").exists()


@pytest.mark.thorough
def test_flat_names_of_derivatives(tmp_path: Path) -> None:
    path = export_native(
        ball(), tmp_path / "ball.fmu", derivatives=["b.e"], outputs=["b.height"], naming="flat"
    )
    names = [v.name for v in fmpy.read_model_description(str(path)).modelVariables]
    assert "d_b_height_d_b_e" in names
