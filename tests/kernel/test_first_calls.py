"""Blocks of systems that are evaluated a few times run as plain Python, and give the same bytes."""

import math

import numpy as np
import pytest

import cosim
from cosim import kit
from cosim_compiler import first_calls, units

pytestmark = pytest.mark.skipif(kit.is_plain(), reason="nothing is compiled here")


def law_class(name: str, scale: float) -> type[cosim.Component]:
    """A class whose kernel functions no other test compiles, by the scale in their code."""

    class Law(cosim.Component):
        angle = cosim.auxiliary_state(start=1.125)
        shown = cosim.output(shape=2)

        @cosim.kernel
        def show(t, angle, shown):
            if angle > 8.0 * scale:
                raise ValueError("the angle is too large")
            shown[0] = math.sin(angle) * scale
            shown[1] = 1.0 / math.sqrt(1.25 - angle) if angle <= 1.25 else angle

        @cosim.kernel
        def derivatives(angle, angle_dot):
            angle_dot[0] = scale * angle

    Law.__name__ = name
    return Law


def model_of(cls) -> cosim.Model:
    model = cosim.Model("first calls")
    model.add(cls(), "law")
    return model


def blocks_at_hand(system) -> list[bool]:
    own_blocks = [block for block in system.blocks if block.label in ("show", "derivatives")]
    assert len(own_blocks) == 2, [block.label for block in system.blocks]
    return [units.is_at_hand(block.function, kit.BLOCK_SIGNATURE) for block in own_blocks]


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    from cosim_compiler import kernel_cache

    monkeypatch.setattr(kernel_cache, "folder", lambda: tmp_path)


def seldom_evaluated_system(cls):
    with kit.seldom_evaluated():
        return model_of(cls).build()


def test_a_system_for_a_few_evaluations_compiles_nothing(empty_cache) -> None:
    cls = law_class("Few", 0.3719)
    system = seldom_evaluated_system(cls)
    state = system.default_state().realize()
    assert not any(blocks_at_hand(system))
    compiled = model_of(cls).build()
    assert all(blocks_at_hand(compiled))
    expected = compiled.default_state().realize()
    assert np.array_equal(system.arrays(state).c, compiled.arrays(expected).c)
    assert system.arrays(state).c.any()


def test_a_block_is_compiled_after_many_evaluations(empty_cache, monkeypatch) -> None:
    monkeypatch.setattr(first_calls, "LONGEST", 1e-6)
    cls = law_class("Many", 0.3721)
    system = seldom_evaluated_system(cls)
    first = system.arrays(system.default_state().realize()).c.copy()
    second = system.arrays(system.default_state().realize()).c
    assert all(blocks_at_hand(system))
    assert np.array_equal(first, second) and first.any()


def test_where_plain_python_raises_machine_code_computes(empty_cache) -> None:
    """Plain Python raises an error for 1 / 0.0; machine code returns infinity."""
    system = seldom_evaluated_system(law_class("Divided", 0.3727))
    state = system.default_state()
    state["law.angle"] = 1.25
    assert state.realize()["law.shown[1]"] == math.inf


def test_an_exception_of_a_kernel_function_names_the_part(empty_cache) -> None:
    system = seldom_evaluated_system(law_class("Refused", 0.3733))
    state = system.default_state()
    state["law.angle"] = 3.0
    with pytest.raises(cosim.SimulationError, match="law.*the angle is too large"):
        state.realize()


def test_sums_of_a_call_that_raised_are_restored_before_machine_code_is_called(empty_cache) -> None:
    """Machine code then adds to them; each sum is added once."""

    def add(t, y, p, d, k, h, c, ints, first, count):
        c[0] += 2.0
        k[0] += 3
        if c[0] > 0.0:
            raise ValueError("is positive")

    calls = first_calls.FirstCalls([add], kit.BLOCK_SIGNATURE, add)
    address = calls.address(add)
    call = kit.compile_function(kit.walk, kit.WALK_SIGNATURE)
    zeros, whole = np.zeros(1), np.zeros(1, dtype=np.int64)
    table, c, k = np.array([[address, 0, 1]]), np.array([-0.5]), np.array([4])
    failed = call(table, whole, 0, 1, 0.0, zeros, zeros, zeros, k, zeros, c)
    assert (failed, c.tolist(), k.tolist()) == (1, [1.5], [7])
