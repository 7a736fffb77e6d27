"""What simulators of one system share, and how a system finds variables by path and by kind."""

import numpy as np
import pytest
from falling_ball import FallingBall

import cosim
from cosim.run_data.run import ROLES
from cosim.system.blocks import Slot
from cosim_mechanics import Multibody


class Bouncer(FallingBall):
    """A ball that counts its bounces."""

    bounces = cosim.discrete(dtype=int)

    @cosim.on(FallingBall.floor, does="unrestricted")
    def bounce(speed, bounces, speed_next, bounces_next):
        speed_next[0] = -0.7 * speed
        bounces_next[0] = bounces + 1


def delayed_ball():
    """A system of a ball, with its height of 50 ms ago."""
    model = cosim.Model("bouncer")
    model.add(Bouncer, "ball")
    model.measure("measures.delay", "late", source="ball.height", delay=0.05)
    return model.build()


def simulator_of(system, method="runge_kutta_merson", accuracy=1e-6, **options):
    return cosim.Simulator(system, integrator=f"integrators.{method}", accuracy=accuracy, **options)


def outcome(simulator):
    """The bytes of the State at 1.4 s, and all events."""
    simulator.advance_to(1.4)
    return simulator.state.to_bytes(), [(event.cause, event.time) for event in simulator.events]


def test_simulators_of_one_system_share_no_array_that_a_run_writes():
    system = delayed_ball()
    first, second = (simulator_of(system).compiled_step.arrays for _ in range(2))
    written = [name for name, role in ROLES.items() if role not in ("constant", "computed")]
    for name in [*written, "program", "choice"]:
        assert not np.shares_memory(getattr(first, name), getattr(second, name)), name


def test_simulators_of_one_system_do_not_disturb_each_other():
    """Two runs in turns, with runs of other methods and settings between their calls."""
    stops = (0.6, 0.9)
    expected = []
    for stop in stops:
        alone = simulator_of(delayed_ball())
        alone.advance_to(stop)
        expected.append(outcome(alone))

    system = delayed_ball()
    simulators = [simulator_of(system) for _ in stops]
    simulators[0].advance_to(stops[0])
    further = [
        simulator_of(system, "bdf"),
        simulator_of(system, accuracy=1e-3),
        simulator_of(system, endless_events="report"),
        simulator_of(system, "runge_kutta_4", fixed_step=0.01),
    ]
    simulators[1].advance_to(stops[1])
    for simulator in further:
        simulator.advance_to(1.0)
    assert [outcome(simulator) for simulator in simulators] == expected


def test_more_paths_are_found_than_are_cached(monkeypatch):
    monkeypatch.setattr("cosim.system.system_variables.KEPT_SIGNALS", 2)
    model, heights = cosim.Model("balls"), {f"ball{i}.height": 1.0 + i for i in range(5)}
    for path, height in heights.items():
        model.add(Bouncer, path.partition(".")[0], height=height)
    system = model.build()
    result = cosim.simulate(system, 0.1, fixed_step=0.1, integrator="integrators.runge_kutta_4",
                            accuracy=1e-3, signals=list(heights))  # fmt: skip
    assert {path: values[0] for path, values in result.signals.items()} == heights
    assert len(system._signals) <= 2


def test_columns_of_many_paths_are_those_of_each_path_alone():
    arm = Multibody("arm", gravity=(0.0, 0.0, -9.81))
    for i in range(3):
        body = arm.body(f"body{i}", mass=1.0, inertia=(0.1, 0.1, 0.1))
        arm.joint("pin", name=f"pin{i}", child=body, parent="ground" if i == 0 else f"body{i - 1}")
    arm.add("measures.maximum", "most", source="pin0.q")
    system = arm.build()
    element = system.signal("body0.x")
    assert element.slot.size == 1 and element.units == ("m",)  # of a vector with several units
    paths = [*system.variables, "pin1.q_dot", "pin0.q[0]", "most"]
    alone = [system.assembly.wiring.signal(path) for path in paths]
    for _ in range(2):  # the second time names of classes come from a cache
        arrays, offsets, sizes, units, kinds = system.signal_columns(paths)
        assert [Slot(*slot) for slot in zip(arrays, offsets, sizes, strict=True)] == [s.slot for s in alone]
        assert units == [signal.units for signal in alone]
        assert kinds == [signal.declaration.kind for signal in alone]
    assert system.signal_columns([]) == ([], [], [], [], [])
    for path, name in (("pin0.nothing", "nothing"), ("nobody.q", "nobody"), ("pin0.q[7]", "pin0.q")):
        with pytest.raises(cosim.LookUpError, match=name):
            system.signal_columns([path])


def arm_with_measures():
    arm = Multibody("arm", gravity=(0.0, 0.0, -9.81))
    body = arm.body("body", mass=1.0, inertia=(0.1, 0.1, 0.1))
    arm.joint("pin", name="pin", child=body, parent="ground")
    arm.add("measures.maximum", "most", source="pin.q")
    arm.add("measures.integrate", "area", source="pin.q")
    return arm.build()


def test_variables_of_some_kinds_are_a_selection_of_all_variables():
    """Of a new system, and of one whose variables have all been listed before."""
    system, all_variables = arm_with_measures(), list(arm_with_measures().variables.values())
    kinds = {variable.kind for variable in all_variables}
    assert {"measure", "parameter", "cache", "position"} <= kinds
    for chosen in [(), ("nothing",), *((kind,) for kind in kinds), ("output", "measure"), tuple(kinds)]:
        expected = [variable for variable in all_variables if variable.kind in chosen]
        for variables in (arm_with_measures().variables_of(*chosen), system.variables_of(*chosen)):
            assert list(variables.values()) == expected
            assert list(variables) == [variable.path for variable in expected]
        assert list(system.variables)
    assert system.outputs == arm_with_measures().outputs == tuple(system.variables_of("output", "measure"))
