"""The family of measures, each with the contract and against closed forms."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

import cosim
import cosim_measures.plugin as plugin
from cosim import Stage
from cosim.testing import MeasureContract
from cosim_measures.constant import Constant
from cosim_measures.delay import Delay
from cosim_measures.differentiate import Differentiate
from cosim_measures.first_order_filter import FirstOrderFilter
from cosim_measures.integrate import Integrate
from cosim_measures.max_abs import MaxAbs
from cosim_measures.min_abs import MinAbs
from cosim_measures.product import Product
from cosim_measures.rate_limiter import RateLimiter
from cosim_measures.sample_and_hold import SampleAndHold
from cosim_measures.sliding_mean import SlidingMean
from cosim_measures.sliding_rms import SlidingRms
from cosim_measures.variable import Variable

REFERENCE = json.loads((Path(__file__).parent.parent / "data" / "delay_linear.json").read_text())


class TestDelay(MeasureContract):
    make = staticmethod(lambda: Delay(delay=0.1, interpolation="dense_output"))
    tolerance = 1e-4


class TestProduct(MeasureContract):
    make = staticmethod(lambda: Product())


class TestIntegrate(MeasureContract):
    make = staticmethod(lambda: Integrate(value=0.3))


class TestDifferentiate(MeasureContract):
    make = staticmethod(lambda: Differentiate())


class TestMaxAbs(MeasureContract):
    make = staticmethod(lambda: MaxAbs())
    times = (0.03, 0.06, 0.83)


class TestMinAbs(MeasureContract):
    make = staticmethod(lambda: MinAbs())


class TestFirstOrderFilter(MeasureContract):
    make = staticmethod(lambda: FirstOrderFilter(time_constant=0.05))


class TestRateLimiter(MeasureContract):
    make = staticmethod(lambda: RateLimiter(rising=0.4, falling=0.3, time_constant=0.01))


class TestSlidingMean(MeasureContract):
    make = staticmethod(lambda: SlidingMean(window=0.3))


class TestSlidingRms(MeasureContract):
    make = staticmethod(lambda: SlidingRms(window=0.3))


class TestSampleAndHold(MeasureContract):
    make = staticmethod(lambda: SampleAndHold(period=0.1))


class TestVariable(MeasureContract):
    make = staticmethod(lambda: Variable(value=2.0))


class TestConstant(MeasureContract):
    make = staticmethod(lambda: Constant(value=2.0))


def wave(model, name="wave", **values):
    values = {"amplitude": 1.5, "frequency": 2.0 * math.pi, "phase": 0.3, **values}
    model.add("measures.sinusoid", name, **values)
    model.add("measures.integrate", f"{name}_area", source=name)


def simulated(model, until, **options):
    simulator = cosim.Simulator(model.build(), **{"accuracy": 1e-8, **options})
    simulator.initialize()
    simulator.advance_to(until)
    simulator.state.realize(Stage.REPORT)
    return simulator


def test_all_are_registered_and_documented() -> None:
    found = {}
    plugin.cosim_register(lambda name, cls: found.setdefault(name, cls))
    assert len(found) == 25
    assert all("Law:" in cls.__doc__ and ">>>" in cls.__doc__ for cls in found.values())


@pytest.mark.by_turns
@pytest.mark.parametrize(
    ("kind", "exact", "when"),
    [("maximum", 1.5, 0.25 - 0.3 / (2.0 * math.pi)), ("minimum", -1.5, 0.75 - 0.3 / (2.0 * math.pi)),
     ("max_abs", 1.5, 0.25 - 0.3 / (2.0 * math.pi)), ("min_abs", 0.0, 0.5 - 0.3 / (2.0 * math.pi))],
)  # fmt: skip
@pytest.mark.parametrize("integrator", ["runge_kutta_merson", "dormand_prince"])
def test_extremes_lie_inside_of_steps(kind, exact, when, integrator) -> None:
    """Steps of 0.04 do not end there."""
    model = cosim.Model("extreme")
    wave(model)
    model.add(f"measures.{kind}", "best", source="wave")
    model.add(f"measures.{kind}", "rough", source="wave", located=False)
    simulator = simulated(model, 0.95, integrator=f"integrators.{integrator}", fixed_step=0.04, accuracy=None)
    state = simulator.state
    assert state["best"] == pytest.approx(exact, abs=2e-8)
    assert state["best.time"] == pytest.approx(when, abs=1e-5)
    assert abs(state["rough"] - exact) > 1e-5
    assert state["best.value_dot"] == 0.0
    restored = simulator.system.state_from_bytes(state.to_bytes()).realize(Stage.REPORT)
    assert restored["best"] == state["best"]


def test_an_extreme_of_a_source_without_a_derivative() -> None:
    model = cosim.Model("extreme")
    wave(model)
    model.add(Square, "square", of="wave")
    model.add("measures.maximum", "best", source="square")
    simulator = simulated(model, 0.5, accuracy=1e-9, maximum_step=0.02)
    assert simulator.state["best"] == pytest.approx(2.25, abs=1e-4)


class Square(cosim.Measure):
    """Law: value = of^2, without a derivative."""

    of = cosim.source()

    @cosim.kernel
    def value(of, value):
        value[0] = of * of


def test_extremes_at_steps_agree_with_simbody() -> None:
    reference = REFERENCE["sibling_measures"]
    model = cosim.Model("extremes")
    wave(model)
    for name, kind in (("min", "minimum"), ("max", "maximum"), ("minabs", "min_abs"), ("maxabs", "max_abs")):
        model.add(f"measures.{kind}", name, source="wave", located=False)
    simulator = cosim.Simulator(model.build(), fixed_step=0.04)
    simulator.initialize()
    for row in reference["rows"]:
        simulator.advance_to(row["t"])
        state = simulator.state.realize(Stage.REPORT)
        for name in ("min", "max", "minabs", "maxabs"):
            assert state[name] == pytest.approx(row[name], abs=1e-12)
            assert state[f"{name}.time"] == pytest.approx(row[f"t_{name}"], abs=1e-12)


def test_derivative_counts_and_stages_are_at_least_simbodys() -> None:
    """Counts are lower bounds there, stages upper bounds."""
    late = {"source": "result", "delay": 0.1}
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
        "Delay(Result at Position)": ("late", "delay", late),
        "Delay(Result at Position) can use current": (
            "soon",
            "delay",
            {**late, "can_use_current_value": True},
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
    wave(model)
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


def test_an_integral_is_never_stale() -> None:
    model = cosim.Model("stale")
    wave(model)
    state = model.build().default_state()
    state.realize(Stage.REPORT)
    state.set_z([42.0])
    assert state["wave_area"] == 42.0


def test_an_integral_begins_where_a_signal_says() -> None:
    model = cosim.Model("begin")
    wave(model)
    model.add("measures.constant", "start", value=1.5 * math.sin(0.3), unit="s")
    model.add("measures.integrate", "area", source="wave", initial="start")
    simulator = cosim.Simulator(model.build(), accuracy=1e-6)
    simulator.initialize()
    assert simulator.state["area"] == pytest.approx(1.5 * math.sin(0.3), abs=1e-15)


def test_a_filtered_derivative_does_not_ring() -> None:
    """25 steps a period: a recursion over differences oscillates there for ever."""
    model = cosim.Model("filtered")
    wave(model)
    model.add(Square, "square", of="wave")
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


@pytest.mark.parametrize("accuracy", [1e-5, 1e-9])
def test_mean_and_rms_of_whole_periods(accuracy) -> None:
    model = cosim.Model("window")
    wave(model)
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
    # 0 for a second, then a ramp
    assert simulator.state["mean"] == pytest.approx(0.25, abs=1e-12)
    assert simulator.state["mean.value_dot"] == pytest.approx(0.5, abs=1e-12)
    simulator.advance_to(5.0)
    simulator.state.realize(Stage.REPORT)
    assert simulator.state["mean"] == pytest.approx(4.0, abs=1e-10)
    assert simulator.state["mean.value_dot"] == pytest.approx(1.0, abs=1e-12)


def test_filters_and_limits() -> None:
    model = cosim.Model("filters")
    model.add("measures.time", "clock")
    model.add("measures.first_order_filter", "slow", source="clock", time_constant=0.2)
    model.add("measures.scale", "steep", source="clock", factor=5.0)
    model.add("measures.rate_limiter", "limited", source="steep", rising=2.0, time_constant=1e-3)
    simulator = simulated(model, 1.0)
    assert simulator.state["slow"] == pytest.approx(1.0 - 0.2 * (1.0 - math.exp(-5.0)), abs=1e-7)
    assert simulator.state["limited"] == pytest.approx(2.0, abs=2e-3)


def test_sample_and_hold() -> None:
    model = cosim.Model("held")
    model.add("measures.time", "clock")
    model.add("measures.integrate", "area", source="clock")
    model.add("measures.sample_and_hold", "held", source="clock", period=0.1, offset=0.05)
    simulator = cosim.Simulator(model.build(), accuracy=1e-6)
    seen = []
    for t in (0.04, 0.06, 0.14, 0.16):
        simulator.advance_to(t)
        seen.append(simulator.state["held"])
    assert seen == pytest.approx([0.0, 0.05, 0.05, 0.15], abs=1e-15)


def test_a_variable_and_a_result() -> None:
    model = cosim.Model("set")
    model.add("measures.variable", "knob", value=2.0, invalidates="dynamics")
    model.add("measures.scale", "twice", source="knob", factor=2.0)
    model.add("measures.result", "found", depends_on="time")
    model.add("measures.zero", "zero")
    model.add("measures.one", "one")
    system = model.build()
    state = system.default_state().realize(Stage.REPORT)
    assert (state["knob"], state["twice"], state["zero"], state["one"]) == (2.0, 4.0, 0.0, 1.0)
    state["knob"] = 3.0
    assert state.stage == Stage.VELOCITY
    assert state.realize(Stage.REPORT)["twice"] == 6.0
    found = system.parts["found"]
    with pytest.raises(cosim.StageError, match="not set"):
        found.read(state)
    found.set(state, 7.0)
    assert (found.read(state), state.stage) == (7.0, Stage.TIME)
    state.set_time(1.0)
    with pytest.raises(cosim.StageError):
        found.set(state, 8.0)


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


def test_the_handle_of_a_measure() -> None:
    model = cosim.Model("handles")
    model.add("measures.time", "clock")
    original = model.add("measures.scale", "scaled", source="clock", factor=2.0)
    model.add("measures.scale", "other", source="clock", factor=2.0)
    system = model.build()
    twin = original.copy()
    assert original.is_same_measure(system.parts["scaled"])
    assert not twin.is_same_measure(original)
    assert original.is_in(system)
    assert not twin.is_in(system)
    assert (original.index_in(system), system.parts["other"].index_in(system)) == (1, 2)
    assert (twin.name, twin.factor, twin.source) == ("", 2.0, "clock")
    with pytest.raises(ValueError, match="is not part of this system"):
        twin.index_in(system)


def test_measures_leave_an_fmu(tmp_path: Path) -> None:
    """Values that are states or parameters, and vectors, too."""
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
