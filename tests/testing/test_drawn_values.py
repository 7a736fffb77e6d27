"""Values that kits draw for the variables of a part: the declared ones first, then others in their bounds."""

import numpy as np
import pytest

import cosim
from cosim.testing.drawn_values import drawn_values
from cosim_mechanics import LinearBushing
from cosim_mechanics.testing.force_bench import ForceBench

SEEDS = range(1, 200)


class Everything(cosim.Component):
    """One of each kind."""

    stiffness = cosim.parameter(unit="N/m", default=3e5, minimum=0.0)
    period = cosim.parameter(unit="s", default=0.1, above=0.0)
    share = cosim.parameter(unit="1", default=0.2, minimum=0.0, maximum=1.0)
    free = cosim.parameter(unit="m", default=-2.0)
    absent = cosim.parameter(unit="N.s/m", default=0.0, minimum=0.0)
    table = cosim.parameter(unit="m", shape=3, default=(0.1, 0.4, 0.9))
    count = cosim.parameter(default=3, dtype=int, minimum=1, maximum=5)
    flag = cosim.parameter(default=False, dtype=bool)
    mode = cosim.parameter(default="off", choices=("off", "on", "both"))
    level = cosim.auxiliary_state(unit="m", start=0.5, minimum=0.0)
    angle = cosim.position(unit="rad")
    rate = cosim.speed(unit="rad/s")
    held = cosim.discrete(unit="m", start=2.0)
    passes = cosim.discrete(dtype=int)
    is_open = cosim.discrete(dtype=bool)
    hidden = cosim.discrete(start=7.0, internal=True)
    again = cosim.timer(start=1.0)
    push = cosim.input(unit="N", nominal=1e3)

    @cosim.kernel
    def derivatives(level, angle, rate, level_dot, angle_dot, rate_dot):
        level_dot[0] = -level
        angle_dot[0] = rate
        rate_dot[0] = -angle

    @cosim.on(again, does="discrete")
    def ring(passes, passes_next):
        passes_next[0] = passes + 1


@pytest.fixture(scope="module")
def state():
    model = cosim.Model("everything")
    model.add(Everything, "part")
    return model.build().default_state()


@pytest.fixture(scope="module")
def drawn(state):
    """What all seeds draw, by names."""
    draws = [drawn_values(state, "part", seed) for seed in SEEDS]
    return {name: np.array([draw[name] for draw in draws]) for name in draws[0]}


def test_the_first_draw_is_what_is_declared(state):
    values = drawn_values(state, "part", 0)
    assert values.keys().isdisjoint(("hidden", "again"))
    assert (values["stiffness"], values["share"], values["level"], values["push"]) == (3e5, 0.2, 0.5, 0.0)
    assert values["table"].tolist() == [0.1, 0.4, 0.9]


def test_every_variable_is_moved_and_stays_in_its_bounds(state, drawn):
    before = state.to_bytes()
    for name, value in drawn_values(state, "part", 0).items():
        assert np.any(drawn[name] != np.asarray(value)), name
    assert state.to_bytes() == before
    assert set(drawn["count"]) == {1, 2, 3, 4, 5}
    assert set(drawn["mode"]) == {1, 2, 3} and set(drawn["flag"]) == {0, 1}
    assert set(drawn["is_open"]) == set(drawn["passes"]) == {0, 1}
    assert drawn["level"].min() >= 0.0 and drawn["period"].min() >= 0.01
    assert drawn["free"].max() < 0.0
    assert np.all(np.diff(drawn["table"]) > 0.0)
    assert drawn["push"].min() < -1e3 and drawn["push"].max() > 1e3


@pytest.mark.parametrize("first", range(1, 40, 2))
def test_two_draws_lie_on_both_sides(state, first):
    """So that the two draws of a kit find a fault on one side, or at one position of a switch."""
    draws = [drawn_values(state, "part", seed) for seed in (first, first + 1)]
    for name, start in (("angle", 0.0), ("rate", 0.0), ("held", 2.0), ("push", 0.0)):
        offsets = [values[name] - start for values in draws]
        assert offsets[0] * offsets[1] < 0.0, name
        assert abs(offsets[0]) != abs(offsets[1]), name
    for name in ("passes", "is_open", "flag"):
        assert {values[name] for values in draws} == {0, 1}, name


def test_variables_change_their_sides_independently(drawn):
    sides = {name: tuple(drawn[name] > 0.0) for name in ("angle", "rate", "push")}
    assert len(set(sides.values())) == 3


def test_bounds_themselves_are_drawn_unless_they_are_excluded(drawn):
    share = drawn["share"]
    assert (share == 0.0).any() and (share == 1.0).any() and ((share > 0.0) & (share < 1.0)).any()
    assert (drawn["stiffness"] == 0.0).any() and (drawn["absent"] > 0.0).any()
    assert not (drawn["period"] < 1e-2).any()


def test_sizes_range_over_orders_of_magnitude(drawn):
    """From a tenth to ten times the declared value of 3e5."""
    sizes = drawn["stiffness"][drawn["stiffness"] > 0.0]
    assert 3e4 <= sizes.min() < 1e5 and 1e6 < sizes.max() <= 3e6


def test_a_draw_follows_from_its_seed(state):
    assert drawn_values(state, "part", 5)["rate"] == drawn_values(state.copy(), "part", 5)["rate"]
    assert drawn_values(state, "part", 5)["rate"] != drawn_values(state, "part", 6)["rate"]


def test_drawn_poses_are_rotations():
    bench = ForceBench([LinearBushing(stiffness=[1.0] * 6, damping=[0.1] * 6)])
    start = bench.system.default_state()
    for seed in range(1, 20):
        rotation = drawn_values(start, "element0", seed)["frame_on_body1"][:9].reshape(3, 3)
        assert pytest.approx(np.eye(3), abs=1e-12) == rotation @ rotation.T
        assert np.linalg.det(rotation) > 0.0
        assert not np.allclose(rotation, np.eye(3))


class NarrowPlate(cosim.Component):
    """Refuses a width that is not less than its length. Law: none."""

    length = cosim.parameter(unit="m", default=1.0, above=0.0)
    width = cosim.parameter(unit="m", default=0.5, above=0.0)

    @cosim.kernel(refuses=["the width is not less than the length"])
    def fits(length, width):
        return 0.0 if width < length else 1.0


def test_values_that_a_part_refuses_are_drawn_again():
    model = cosim.Model("refusing")
    model.add(NarrowPlate, "part")
    start = model.build().default_state()
    draws = [drawn_values(start, "part", seed) for seed in SEEDS]
    assert all(values["width"] < values["length"] for values in draws)
    assert len({values["width"] for values in draws}) > 150  # of 199 draws
