"""The work and the memory of building a system grow linearly with the number of parts."""

import gc
import math
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "building"))
from building import MODELS, Ball

import cosim
from cosim.preparation.reach import reach_of
from cosim_compiler.sources import kernel_effects, kernel_rules

SMALLEST = 8
MOST_POWER = 1.005
"""The largest exponent of growth; a quadratic term of half a percent at 32 parts exceeds it."""


def lines_run(name, count):
    """How many lines of Python run when a model is built."""
    model, lines = MODELS[name](count), 0

    def trace(frame, event, argument):
        nonlocal lines
        lines += event == "line"
        return trace

    previous_trace = sys.gettrace()
    gc.disable()  # else finalizers of objects of other tests would run inside a build and be counted
    sys.settrace(trace)
    try:
        model.build()
    finally:
        sys.settrace(previous_trace)
        gc.enable()
    return lines


@pytest.mark.few(3)
@pytest.mark.parametrize("name", MODELS)
def test_work_grows_with_the_number_of_parts(name):
    MODELS[name](SMALLEST).build()  # does what is done once for each class
    counts = [math.inf] * 3
    for _ in range(3):  # objects of other tests can only add lines, and rarely three times
        counts = [min(c, lines_run(name, f * SMALLEST)) for c, f in zip(counts, (1, 2, 4), strict=True)]
        small, middle, large = counts
        power = math.log2((large - middle) / (middle - small))
        if power < MOST_POWER:
            break
    assert power < MOST_POWER


@pytest.mark.parametrize("name", MODELS)
def test_schedule_grows_with_the_number_of_parts(name):
    small, middle, large = (MODELS[name](factor * SMALLEST).build().ints.size for factor in (1, 2, 4))
    assert large - middle == 2 * (middle - small)


def test_the_reach_of_blocks_grows_with_the_number_of_parts():
    # all bodies and bushings add to one energy: a list of all that follows each would be quadratic
    small, middle, large = (
        sum(part.size for part in vars(reach_of(MODELS["free_bodies"](factor * SMALLEST).build())).values())
        for factor in (1, 2, 4)
    )
    assert large - middle == 2 * (middle - small)


def test_a_variable_of_all_parts_of_a_class_is_contiguous_in_memory():
    # a block that reads from part to part would wait for memory at each row
    system = MODELS["free_bodies"](3).build()
    bushings = [name for name in system.parts if name.startswith("bushing")]
    slots = system.assembly.layout.slots
    names = {name for name, slot in slots[bushings[0]].items() if slot.array in "pc"}
    assert {"X_GF", "f", "stiffness", "enabled"} <= names
    for name in names & type(system.parts[bushings[0]]).declarations.keys():
        first, *_ = of_bushings = [slots[bushing][name] for bushing in bushings]
        assert [slot.offset - first.offset for slot in of_bushings] == [first.size * i for i in range(9)]


def test_functions_are_parsed_once_for_a_class(monkeypatch):
    parsed = []
    for module in (kernel_effects, kernel_rules):
        parse = module.definition_of
        monkeypatch.setattr(module, "definition_of", lambda f, parse=parse: parsed.append(f) or parse(f))
    MODELS["delays"](4).build()
    parsed.clear()
    MODELS["delays"](40).build()
    assert parsed == []


def chain_of_sums(count, source):
    """A chain of measures, each of which is twice the one before."""
    model = cosim.Model("sums")
    model.add(Ball, "ball")
    for i in range(count):
        model.add("measures.plus", f"sum{i}", first=source, second=source)
        source = f"sum{i}"
    return model.build()


def test_a_unit_is_passed_along_a_chain_of_1500_measures():
    assert chain_of_sums(1500, "ball.height").variables["sum1499"].units == ("m",)


def test_the_derivatives_of_a_chain_are_searched_in_linear_time():
    system = chain_of_sums(60, "ball.height")
    assert system.has_derivative("sum59", 1)
    assert not system.has_derivative("sum59", 2)
