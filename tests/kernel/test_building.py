"""The work of building grows with the number of parts."""

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


def lines_run(name, count):
    """Lines of Python that building a model takes, every round of a loop counted."""
    model, counted = MODELS[name](count), 0

    def trace(frame, event, argument):
        nonlocal counted
        counted += event == "line"
        return trace

    before = sys.gettrace()
    gc.disable()  # finalizers of what other tests left would run inside a build, and their lines be counted
    sys.settrace(trace)
    try:
        model.build()
    finally:
        sys.settrace(before)
        gc.enable()
    return counted


@pytest.mark.few(3)
@pytest.mark.parametrize("name", MODELS)
def test_work_grows_with_the_number_of_parts(name):
    MODELS[name](SMALLEST).build()  # what is done once for a class
    counts = [math.inf] * 3
    for _ in range(3):  # what other tests left behind only adds lines, and not three times
        counts = [min(c, lines_run(name, f * SMALLEST)) for c, f in zip(counts, (1, 2, 4), strict=True)]
        small, middle, large = counts
        power = math.log2((large - middle) / (middle - small))
        if power < 1.005:
            break
    assert power < 1.005


@pytest.mark.parametrize("name", MODELS)
def test_schedule_grows_with_the_number_of_parts(name):
    small, middle, large = (MODELS[name](factor * SMALLEST).build().ints.size for factor in (1, 2, 4))
    assert large - middle == 2 * (middle - small)


def test_what_follows_what_grows_with_the_number_of_parts():
    # all bodies and bushings add to one energy: each would be followed by each
    small, middle, large = (
        sum(part.size for part in vars(reach_of(MODELS["free_bodies"](factor * SMALLEST).build())).values())
        for factor in (1, 2, 4)
    )
    assert large - middle == 2 * (middle - small)


def test_a_quantity_of_all_parts_of_a_class_lies_in_one_stretch():
    # a block that jumps from part to part waits for memory at each row
    system = MODELS["free_bodies"](3).build()
    bushings = [name for name in system.parts if name.startswith("bushing")]
    slots = system.assembly.layout.slots
    lie = {name for name, slot in slots[bushings[0]].items() if slot.array in "pc"}
    assert {"X_GF", "f", "stiffness", "enabled"} <= lie
    for name in lie & type(system.parts[bushings[0]]).declarations.keys():
        found = [slots[bushing][name] for bushing in bushings]
        assert [slot.offset - found[0].offset for slot in found] == [found[0].size * i for i in range(9)]


def test_sources_are_read_once_for_a_class(monkeypatch):
    parsed = []
    for module in (kernel_effects, kernel_rules):
        parse = module.definition_of
        monkeypatch.setattr(module, "definition_of", lambda f, parse=parse: parsed.append(f) or parse(f))
    MODELS["delays"](4).build()
    parsed.clear()
    MODELS["delays"](40).build()
    assert parsed == []


def chain_of_sums(count, source):
    """Each adds the one before to itself."""
    model = cosim.Model("sums")
    model.add(Ball, "ball")
    for i in range(count):
        model.add("measures.plus", f"sum{i}", first=source, second=source)
        source = f"sum{i}"
    return model.build()


def test_units_come_through_long_chains():
    assert chain_of_sums(1500, "ball.height").variables["sum1499"].units == ("m",)


def test_derivatives_are_looked_for_once_for_each_signal():
    system = chain_of_sums(60, "ball.height")
    assert system.has_derivative("sum59", 1)
    assert not system.has_derivative("sum59", 2)
