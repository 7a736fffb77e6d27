"""Results and events that were pickled or copied are equal to the originals."""

import copy
import math
import pickle

import numpy as np
import pytest
from kernel_parts import BouncingBall, Oscillator

import cosim
from cosim import EventCause, EventRecord


def pendulum():
    from cosim_mechanics import Multibody

    model = Multibody("pendulum", gravity=(0, -9.81, 0))
    body = model.body("rod", mass=1.0, center_of_mass=(1, 0, 0), inertia=(0, 0.1, 0.1))
    model.joint("pin", name="hinge", child=body, q=0.3)
    return model


def model_of(part):
    model = cosim.Model("model")
    model.add(part, "part")
    return model


@pytest.mark.parametrize("copied", [lambda r: pickle.loads(pickle.dumps(r)), copy.deepcopy, copy.copy])
@pytest.mark.parametrize("model", [pendulum, lambda: model_of(BouncingBall), lambda: model_of(Oscillator)])
def test_a_copied_result_is_equal(model, copied):
    result = model().simulate(until=1.5)
    restored = copied(result)
    assert np.array_equal(restored.time, result.time)
    assert restored.names == result.names
    for name in result:
        assert restored[name].tobytes() == result[name].tobytes()
        assert restored.unit(name) == result.unit(name)
    assert list(restored.events) == list(result.events)
    assert result.events == list(restored.events)
    assert (restored.findings, restored.message) == (result.findings, result.message)
    assert restored.statistics == result.statistics


def test_pickled_events_have_the_values_that_they_changed():
    result = model_of(BouncingBall).simulate(until=1.5)
    events = pickle.loads(pickle.dumps(result.events))
    assert len(events) == len(result.events) > 3
    bounce = next(event for event in events if event.handler == "part.bounce")
    assert bounce.after["part.bounces"] == 1
    assert bounce.after["part.speed"] == pytest.approx(-0.5 * bounce.before["part.speed"])
    assert pickle.loads(pickle.dumps(model_of(Oscillator).simulate(until=0.1).events)) == []


def test_event_records_are_equal_if_all_their_fields_are():
    def record(**changes):
        fields = {"before": {"x": np.array([1.0, math.nan])}, "after": {"x": np.zeros(2)}, **changes}
        return EventRecord(1.0, EventCause.SCHEDULED, "discrete", "part.tick", (1.0, 1.0), **fields)

    assert record() == record()
    assert len({record(), record()}) == 1
    assert record() != record(before={"x": np.array([1.0, 2.0])})
    assert record() != record(before={"y": np.array([1.0, math.nan])})
    assert record() != record(changed=("x",))
    assert record() != record(message="more")
    assert record() != "a record"
