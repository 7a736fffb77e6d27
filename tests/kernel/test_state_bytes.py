"""The bytes of a State: round trips, and bytes that are damaged, forged or of others, which are refused."""

import contextlib
import math
import struct
import zlib

import numpy as np
import pytest
from how_many import many
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_parts import BouncingBall, Oscillator, system_of

import cosim
from cosim import Stage
from cosim.run_data.run import AGENDA_WIDTH, CLOCK_WIDTH

SYSTEM = system_of(oscillator=Oscillator, ball=BouncingBall)
FINITE = st.floats(allow_nan=False, allow_infinity=False)


@settings(deadline=None, max_examples=many(25), database=None)
@given(st.lists(FINITE, min_size=4, max_size=4), FINITE, st.integers(-(2**53), 2**53), FINITE)
def test_round_trip(y, time, bounces, force):
    state = SYSTEM.default_state()
    state.set_y(y)
    state.set_time(time)
    state["ball.bounces"] = bounces
    state["oscillator.force"] = force
    state.accuracy = 1e-5
    state.integrator_memory = np.array([0.25, abs(force)])
    state._arrays["indices"] = np.array([bounces, 1, 0, 0], dtype=np.int64)
    restored = SYSTEM.state_from_bytes(state.to_bytes())
    assert restored.to_bytes() == state.to_bytes()
    assert (restored.time, restored["ball.bounces"], restored.accuracy) == (time, bounces, 1e-5)
    assert restored.y.tobytes() == state.y.tobytes()
    assert restored.stage < Stage.INSTANCE
    assert restored.arrays["indices"].tolist() == [bounces, 1, 0, 0]


def state_bytes():
    """The bytes of the default State of `SYSTEM`."""
    return SYSTEM.default_state().to_bytes()


@pytest.mark.parametrize("foreign", [b"", b"COSIMST1", b"PK\x03\x04" * 50, b"\0" * 500, "text", None, 3])
def test_bytes_of_other_formats_are_refused(foreign):
    with pytest.raises(cosim.StateError):
        SYSTEM.state_from_bytes(foreign)


def test_a_parameter_that_is_no_number_under_a_right_checksum():
    state = SYSTEM.default_state()
    state.arrays["p"][0] = math.nan
    with pytest.raises(cosim.StateError, match="parameter"):
        SYSTEM.state_from_bytes(state.to_bytes())


class Bounded(cosim.Component):
    """Parameters with bounds."""

    share = cosim.parameter(default=0.5, minimum=0.0, maximum=1.0)
    weights = cosim.parameter(shape=(2,), default=[1.0, 2.0], minimum=0.1)


@pytest.mark.parametrize(
    ("index", "value", "message"),
    [(0, 1.5, "part.share is 1.5"), (0, -0.1, "part.share"), (2, 0.05, r"part.weights\[1\]"), (0, 1.0, "")],
)
def test_parameters_under_a_right_checksum_are_held_to_their_bounds(index, value, message):
    system = system_of(part=Bounded)
    state = system.default_state()
    state._arrays["p"][index] = value
    if not message:
        assert system.state_from_bytes(state.to_bytes())["part.share"] == value
        return
    with pytest.raises(cosim.StateError, match=message):
        system.state_from_bytes(state.to_bytes())


@pytest.mark.parametrize("length", [1, 8, 24, 40, 100, -1, -4, -8])
def test_truncated_bytes_are_refused(length):
    with pytest.raises(cosim.StateError):
        SYSTEM.state_from_bytes(state_bytes()[:length])


def test_one_byte_more_is_refused():
    with pytest.raises(cosim.StateError):
        SYSTEM.state_from_bytes(state_bytes() + b"\0")


@settings(deadline=None, max_examples=many(30), database=None)
@given(st.integers(0, 8 * len(state_bytes()) - 1))
def test_a_flipped_bit_is_refused(bit):
    damaged = bytearray(state_bytes())
    damaged[bit // 8] ^= 1 << (bit % 8)
    with pytest.raises(cosim.StateError):
        SYSTEM.state_from_bytes(bytes(damaged))


@settings(deadline=None, max_examples=many(40), database=None)
@given(st.integers(24, len(state_bytes()) - 12), st.binary(min_size=8, max_size=8))
def test_damage_with_a_right_checksum_is_a_state_error_or_a_state(start, junk):
    body = bytearray(state_bytes()[:-4])
    body[start : start + 8] = junk
    forged = bytes(body) + struct.pack("<I", zlib.crc32(body))
    with contextlib.suppress(cosim.StateError, cosim.SimulationError):
        assert math.isfinite(SYSTEM.state_from_bytes(forged).realize().time)


@pytest.mark.by_turns
@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf, -1.0])
@pytest.mark.parametrize("method", ["runge_kutta_merson", "dormand_prince_853", "radau5", "bdf"])
def test_a_step_length_that_no_run_has_is_refused(method, wrong):
    simulator = cosim.Simulator(SYSTEM, integrator=f"integrators.{method}", accuracy=1e-6)
    simulator.advance_to(0.01)
    state = simulator.state.copy()
    assert SYSTEM.state_from_bytes(state.to_bytes()).time == 0.01
    state.integrator_memory[0] = wrong
    with pytest.raises(cosim.StateError, match="damaged.*integrator"):
        SYSTEM.state_from_bytes(state.to_bytes())


def test_states_that_are_not_finite_are_refused():
    state = SYSTEM.default_state()
    state._arrays["y"][1] = math.nan
    with pytest.raises(cosim.StateError, match="damaged.*state"):
        SYSTEM.state_from_bytes(state.to_bytes())


def test_a_state_of_another_system_is_refused():
    state = system_of(oscillator=Oscillator).default_state()
    with pytest.raises(cosim.StateError, match="another system"):
        SYSTEM.state_from_bytes(state.to_bytes())


def test_a_system_of_the_same_model_reads_the_bytes():
    state = SYSTEM.default_state()
    state["oscillator.x"] = 0.1
    restored = system_of(oscillator=Oscillator, ball=BouncingBall).state_from_bytes(state.to_bytes())
    assert restored["oscillator.x"] == 0.1


def delay_system():
    model = cosim.Model("delayed")
    model.add(Oscillator, "oscillator")
    model.add("measures.delay", "late", source="oscillator.x", delay=0.2)
    return model.build()


def test_forged_histories_are_refused():
    system = delay_system()
    state = system.default_state()
    ring = system.rings[0].offset
    for index, value in [(0, -1), (0, 10**12), (1, 0), (1, 10**9), (2, -1), (2, 99), (3, 99), (4, 7)]:
        forged = state.copy()
        forged._arrays["k"][ring + index] = value
        with pytest.raises(cosim.StateError, match="damaged"):
            system.state_from_bytes(forged.to_bytes())


@pytest.mark.by_turns
@pytest.mark.parametrize("options", [{"accuracy": 1e-7}, {"fixed_step": 0.01}])
@pytest.mark.parametrize("saved_at", [0.0, 0.21, 0.9])
def test_a_restored_run_ends_with_the_same_bytes(options, saved_at):
    system = delay_system()
    uninterrupted = cosim.Simulator(system, **options)
    uninterrupted.advance_to(saved_at)
    restored = cosim.Simulator(system, system.state_from_bytes(uninterrupted.state.to_bytes()), **options)
    for simulator in (uninterrupted, restored):
        simulator.advance_to(1.5)
    assert restored.state.to_bytes() == uninterrupted.state.to_bytes()


def test_histories_that_have_grown_are_restored():
    system = delay_system()
    simulator = cosim.Simulator(system, fixed_step=0.002)
    simulator.advance_to(0.5)
    assert simulator.state._arrays["h"].size > system.default_state()._arrays["h"].size
    restored = system.state_from_bytes(simulator.state.to_bytes()).realize()
    assert restored["late"] == simulator.state.realize()["late"]


def busy_system():
    """A system with events, an oscillator, delays of two kinds and a sampler."""
    model = cosim.Model("busy")
    model.add(BouncingBall, "ball")
    model.add(Oscillator, "oscillator")
    model.add("measures.delay", "late", source="oscillator.x", delay=0.1)
    model.add("measures.delay", "later", source="oscillator.v", delay=0.2, interpolation="dense_output")
    model.add("measures.sample_and_hold", "held", source="late", period=0.03)
    return model.build()


def forged_run(method, sections, until=0.45):
    """Go on from a State whose sections were changed, under a right checksum."""
    system = busy_system()
    simulator = cosim.Simulator(system, integrator=f"integrators.{method}", accuracy=1e-4)
    simulator.advance_to(0.4)
    state = simulator.state.copy()
    for section, index, value in sections:
        state._arrays[section][index] = value
    forged = cosim.Simulator(
        system,
        system.state_from_bytes(state.to_bytes()),
        integrator=f"integrators.{method}",
        accuracy=1e-4,
    )
    forged.advance_to(until)
    return forged.state


@pytest.mark.parametrize("order", [11848969.992, 1e300, -4.0])
def test_a_run_goes_on_from_an_order_that_the_method_does_not_have(order):
    """An order is an index into the memory of the method: no other memory is read."""
    state = forged_run("bdf", [("memory", 6, order)])
    assert state.time == 0.45


@pytest.mark.parametrize("index", [-1, -(2**63)])
def test_an_agenda_that_no_run_has_is_refused(index):
    with pytest.raises(cosim.StateError, match="damaged.*agenda"):
        forged_run("runge_kutta_merson", [("indices", AGENDA_WIDTH + i, index) for i in range(2)])


def test_histories_that_lie_in_each_other_are_refused():
    first, second = (ring.offset for ring in busy_system().rings[:2])
    start = forged_run("runge_kutta_merson", [])._arrays["k"][second]
    with pytest.raises(cosim.StateError, match="damaged"):
        forged_run("runge_kutta_merson", [("k", first, start)])


@pytest.mark.by_turns
@pytest.mark.parametrize("seed", range(many(8)))
@pytest.mark.parametrize("method", ["runge_kutta_merson", "bdf", "radau5"])
def test_any_numbers_in_memory_agenda_descriptors_and_clock_end_in_a_run_or_an_error(method, seed):
    rng = np.random.default_rng([seed, len(method)])
    system = busy_system()
    sizes = {"memory": 2, "indices": AGENDA_WIDTH + 2, "times": CLOCK_WIDTH, "k": system.rings[0].offset + 8}
    section = str(rng.choice(list(sizes)))
    numbers = (
        [-1, 0, 3, 2**31, 2**62, -(2**63)] if section in "indices k" else [math.nan, math.inf, -1.0, 1e300]
    )
    changes = [(section, int(rng.integers(sizes[section])), numbers[rng.integers(len(numbers))])]
    with contextlib.suppress(cosim.StateError, cosim.SimulationError):
        assert np.isfinite(forged_run(method, changes)._arrays["y"]).all()
