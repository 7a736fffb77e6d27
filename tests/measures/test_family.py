"""Measures in models: closed forms, derivatives, stages, integrals, filters, windows, handles, FMUs."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from waves import Square, add_wave, simulated

import cosim
import cosim_measures.plugin as plugin
from cosim import Stage

REFERENCE = json.loads((Path(__file__).parent.parent / "data" / "delay_linear.json").read_text())


def test_all_measures_are_registered_and_documented() -> None:
    measures = {}
    plugin.cosim_register(lambda name, cls: measures.setdefault(name, cls))
    assert len(measures) == 25
    assert all("Law:" in cls.__doc__ and ">>>" in cls.__doc__ for cls in measures.values())


def test_numbers_of_derivatives_and_stages_against_simbody() -> None:
    """Simbody's numbers of derivatives are lower bounds, its stages upper bounds."""
    delay = {"source": "result", "delay": 0.1}
    parts = {
        "Constant": ("one", "constant", {"value": 1.0}),
        "Time": ("clock", "time", {}),
        "Sinusoid": ("wave", "sinusoid", {}),
        "Variable(invalidates Position)": ("knob", "variable", {"value": 0.0, "invalidates": "position"}),
        "Result(depends Position)": ("result", "result", {"depends_on": "position"}),
        "Plus(Time,Sinusoid)": ("plus", "plus", {"first": "clock", "second": "wave"}),
        "Minus": ("minus", "minus", {"first": "clock", "second": "wave"}),
        "Scale(Sinusoid)": ("scale", "scale", {"source": "wave", "factor": 2.0}),
        "Integrate(Sinusoid)": ("area", "integrate", {"source": "wave"}),
        "Integrate(Plus)": ("area_of_sum", "integrate", {"source": "plus"}),
        "Differentiate(Sinusoid)": ("rate", "differentiate", {"source": "wave"}),
        "Minimum(Sinusoid)": ("least", "minimum", {"source": "wave"}),
        "MaxAbs(Plus)": ("most", "max_abs", {"source": "plus"}),
        "Delay(Result at Position)": ("late", "delay", delay),
        "Delay(Result at Position) can use current": (
            "soon",
            "delay",
            {**delay, "can_use_current_value": True},
        ),
    }
    model = cosim.Model("meta")
    for name, kind, values in parts.values():
        model.add(f"measures.{kind}", name, **values)
    system = model.build()
    rows = [row for row in REFERENCE["measure_meta"] if "approx" not in row["measure"]]
    assert len(rows) == len(parts)
    for row in rows:
        measure = system.parts[parts[row["measure"]][0]]
        assert measure.derivatives_in(system) >= min(row["num_time_derivatives"], 1 << 30), row
        for order, stage in enumerate(row["depends_on_stage"]):
            assert measure.depends_on_stage(system, order) <= Stage[stage.upper()], (row, order)


def test_products_and_integrals_have_higher_derivatives() -> None:
    model = cosim.Model("orders")
    add_wave(model)
    model.add("measures.time", "clock")
    model.add("measures.product", "product", first="wave", second="clock")
    model.add("measures.scale", "scaled", source="product", factor=2.0)
    model.add("measures.integrate", "area", source="scaled")
    model.add("measures.differentiate", "back", source="area")
    system = model.build()
    state = system.default_state()
    t, w = 0.7, 2.0 * math.pi
    state.set_time(t)
    state.realize(Stage.REPORT)
    s, c = 1.5 * math.sin(w * t + 0.3), 1.5 * math.cos(w * t + 0.3)
    expected = [s * t, w * c * t + s, -w * w * s * t + 2 * w * c, -(w**3) * c * t - 3 * w * w * s]
    read = system.parts["product"].read
    assert [read(state, k) for k in range(4)] == pytest.approx(expected)
    assert [system.parts["area"].read(state, k + 1) for k in range(4)] == pytest.approx(
        2 * np.array(expected)
    )
    assert [system.parts["back"].read(state, k) for k in range(3)] == pytest.approx(
        2 * np.array(expected[:3])
    )
    assert system.parts["product"].derivatives_in(system) == 3
    with pytest.raises(ValueError, match="this measure has 3"):
        system.parts["product"].read(state, 4)


def test_an_integral_shows_a_state_that_is_set() -> None:
    model = cosim.Model("stale")
    add_wave(model)
    state = model.build().default_state()
    state.realize(Stage.REPORT)
    state.set_z([42.0])
    assert state["wave_area"] == 42.0


def test_an_integral_starts_at_the_value_of_a_signal() -> None:
    model = cosim.Model("begin")
    add_wave(model)
    model.add("measures.constant", "start", value=1.5 * math.sin(0.3), unit="s")
    model.add("measures.integrate", "area", source="wave", initial="start")
    simulator = cosim.Simulator(model.build(), accuracy=1e-6)
    simulator.initialize()
    assert simulator.state["area"] == pytest.approx(1.5 * math.sin(0.3), abs=1e-15)


def test_a_filtered_derivative_does_not_ring() -> None:
    """With 25 steps in a period, a recursion over differences would oscillate forever."""
    model = cosim.Model("filtered")
    add_wave(model)
    model.add(Square, "square", source="wave")
    model.add("measures.differentiate", "rate", source="square", time_constant=1e-4)
    model.add("measures.differentiate", "exact", source="wave")
    simulator = cosim.Simulator(model.build(), accuracy=1e-8)
    simulator.initialize()
    for i in range(1, 60):
        t = 0.04 * i
        simulator.advance_to(t)
        angle = 2.0 * math.pi * t + 0.3
        exact = 2.0 * 2.25 * math.sin(angle) * math.cos(angle) * 2.0 * math.pi
        assert simulator.state["rate"] == pytest.approx(exact, abs=0.05)
        assert simulator.state["exact"] == pytest.approx(1.5 * 2.0 * math.pi * math.cos(angle), abs=1e-12)


def test_filters_and_limits() -> None:
    model = cosim.Model("filters")
    model.add("measures.time", "clock")
    model.add("measures.first_order_filter", "slow", source="clock", time_constant=0.2)
    model.add("measures.scale", "steep", source="clock", factor=5.0)
    model.add("measures.rate_limiter", "limited", source="steep", rising=2.0, time_constant=1e-3)
    simulator = simulated(model, 1.0)
    assert simulator.state["slow"] == pytest.approx(1.0 - 0.2 * (1.0 - math.exp(-5.0)), abs=1e-7)
    assert simulator.state["limited"] == pytest.approx(2.0, abs=2e-3)


def test_sample_and_hold_samples_at_its_ticks() -> None:
    model = cosim.Model("held")
    model.add("measures.time", "clock")
    model.add("measures.integrate", "area", source="clock")
    model.add("measures.sample_and_hold", "held", source="clock", period=0.1, offset=0.05)
    simulator = cosim.Simulator(model.build(), accuracy=1e-6)
    values = []
    for t in (0.04, 0.06, 0.14, 0.16):
        simulator.advance_to(t)
        values.append(simulator.state["held"])
    assert values == pytest.approx([0.0, 0.05, 0.05, 0.15], abs=1e-15)


def test_variables_and_results_invalidate_their_stages() -> None:
    model = cosim.Model("set")
    model.add("measures.variable", "knob", value=2.0, invalidates="dynamics")
    model.add("measures.scale", "twice", source="knob", factor=2.0)
    model.add("measures.result", "answer", depends_on="time")
    model.add("measures.zero", "zero")
    model.add("measures.one", "one")
    system = model.build()
    state = system.default_state().realize(Stage.REPORT)
    assert (state["knob"], state["twice"], state["zero"], state["one"]) == (2.0, 4.0, 0.0, 1.0)
    state["knob"] = 3.0
    assert state.stage == Stage.VELOCITY
    assert state.realize(Stage.REPORT)["twice"] == 6.0
    answer = system.parts["answer"]
    with pytest.raises(cosim.StageError, match="not set"):
        answer.read(state)
    answer.set(state, 7.0)
    assert (answer.read(state), state.stage) == (7.0, Stage.TIME)
    state.set_time(1.0)
    with pytest.raises(cosim.StageError):
        answer.set(state, 8.0)


def test_quantities_of_bodies_and_elements_are_measures() -> None:
    model = cosim.Model("quantities")
    model.add("mechanics.ground", "ground")
    model.add("mechanics.rigid_body", "body", mass=2.0, inertia=(0.4, 0.5, 0.8))
    model.add("mechanics.gravity", "gravity")
    model.add("mechanics.free", "joint", parent="ground", child="body")
    model.add("mechanics.linear_bushing", "mount", body1="ground", body2="body",
              stiffness=[1.0] * 6, damping=[0.1] * 6)  # fmt: skip
    for name, path in (
        ("pose", "body.X_GB"), ("velocity", "body.V_GB[5]"), ("acceleration", "body.A_GB"),
        ("force", "mount.f"), ("energy", "mount.potential_energy"), ("height", "body.z"),
    ):  # fmt: skip
        model.add("measures.signal", name, source=path)
    model.add("measures.maximum", "peak", source="acceleration")
    model.add("measures.delay", "felt", source="force", delay=0.1)
    simulator = simulated(model, 0.5, accuracy=1e-6)
    state = simulator.state
    assert state["velocity"] == state["body.V_GB"][5]
    assert np.array_equal(state["acceleration"], state["body.A_GB"])
    assert np.array_equal(state["force"], state["mount.f"])
    assert state["energy"] == state["mount.potential_energy"]
    assert state["peak"].shape == (6,)
    assert state["felt"].shape == (6,)


def test_a_copy_of_a_measure_is_another_measure() -> None:
    model = cosim.Model("handles")
    model.add("measures.time", "clock")
    original = model.add("measures.scale", "scaled", source="clock", factor=2.0)
    model.add("measures.scale", "other", source="clock", factor=2.0)
    system = model.build()
    copy = original.copy()
    assert original.is_same_measure(system.parts["scaled"])
    assert not copy.is_same_measure(original)
    assert original.is_in(system)
    assert not copy.is_in(system)
    assert (original.index_in(system), system.parts["other"].index_in(system)) == (1, 2)
    assert (copy.name, copy.factor, copy.source) == ("", 2.0, "clock")
    with pytest.raises(ValueError, match="is not part of this system"):
        copy.index_in(system)


def test_measures_are_outputs_of_an_fmu(tmp_path: Path) -> None:
    """Also measures whose values are states or parameters, and vectors."""
    fmpy = pytest.importorskip("fmpy")
    model = cosim.Model("leaving")
    model.add("measures.sinusoid", "wave", amplitude=[1.0, 2.0])
    model.add("measures.integrate", "area", source="wave")
    model.add("measures.maximum", "best", source="wave")
    model.add("measures.constant", "three", value=3.0)
    model.add("measures.delay", "late", source="area", delay=0.1)
    path = tmp_path / "leaving.fmu"
    model.export_fmu(path, native=False)
    description = fmpy.read_model_description(str(path), validate=True)
    outputs = {v.name for v in description.modelVariables if v.causality == "output"}
    pairs = {f"{name}[{i}]" for name in ("wave", "area", "best", "late") for i in (1, 2)}
    assert outputs == {*pairs, "three"}


@pytest.mark.parametrize("accuracy", [1e-5, 1e-9])
def test_mean_and_rms_of_whole_periods(accuracy) -> None:
    model = cosim.Model("window")
    add_wave(model)
    model.add("measures.sliding_mean", "mean", source="wave", window=1.0)
    model.add("measures.sliding_rms", "rms", source="wave", window=1.0)
    simulator = cosim.Simulator(model.build(), accuracy=accuracy)
    simulator.initialize()
    assert simulator.state["mean"] == pytest.approx(1.5 * math.sin(0.3), abs=1e-15)
    assert simulator.state["rms"] == pytest.approx(1.5 * math.sin(0.3), abs=1e-15)
    for t in (1.0, 1.37, 3.1):
        simulator.advance_to(t)
        state = simulator.state.realize(Stage.REPORT)
        assert state["mean"] == pytest.approx(0.0, abs=20 * accuracy)
        assert state["rms"] == pytest.approx(1.5 / math.sqrt(2.0), abs=20 * accuracy)


def test_a_mean_while_the_window_fills() -> None:
    model = cosim.Model("window")
    model.add("measures.time", "clock")
    model.add("measures.sliding_mean", "mean", source="clock", window=2.0)
    simulator = simulated(model, 1.0)
    # before the start the clock was 0: a second of 0 and a second of a ramp
    assert simulator.state["mean"] == pytest.approx(0.25, abs=1e-12)
    assert simulator.state["mean.value_dot"] == pytest.approx(0.5, abs=1e-12)
    simulator.advance_to(5.0)
    simulator.state.realize(Stage.REPORT)
    assert simulator.state["mean"] == pytest.approx(4.0, abs=1e-10)
    assert simulator.state["mean.value_dot"] == pytest.approx(1.0, abs=1e-12)
