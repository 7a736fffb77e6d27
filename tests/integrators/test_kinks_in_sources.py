"""Kinks that are read from the source of a kernel function, as functions that change sign at them."""

import inspect

from kink_problems import clamp

import cosim
from cosim import kit
from cosim.functions import interp
from cosim_compiler.sources.kernel_sides import sides_of
from cosim_compiler.sources.side_functions import FAR, NEAREST, nearer_side


def law(x, y, z, k, x_dot, y_dot, z_dot):
    """Kinks of many kinds."""
    f = abs(x + 1.0) - abs(x - 1.0)
    g = 2.0 * f
    x_dot[0] = max(g, k, z)
    h = abs(y) if z > 0.0 else 0.0
    for i in range(3):
        u = x * i
        y_dot[0] = min(u, 1.0)
    z_dot[0] = clamp(y, -1.0, 1.0) + h + max(k, 2.0)
    z_dot[0] += 1.0 + (abs(z) if y > 0.0 else 0.0)


def test_sides_of_a_source() -> None:
    sides = sides_of(law, frozenset(["k"]))
    arguments = [tuple(inspect.signature(function).parameters) for function in sides.functions]
    assert arguments.count(("x",)) == 2 + 3  # two calls of abs; min in three rounds of the loop
    assert arguments.count(("y",)) == 2 + 1  # max and min of clamp; the branch of the last line
    first_line = law.__code__.co_firstlineno
    assert sides.missed == (first_line + 10,)  # abs(z)
    side_of = dict(zip(arguments, sides.functions, strict=True))
    # max of three values: the first two, and the larger one of these with the third
    assert ("x", "z", "k") in side_of
    at_the_kink = side_of["x", "k"](0.75, 3.0)  # g = 4 x = k
    assert at_the_kink in (0.0, NEAREST)
    assert side_of["y", "z"](-2.0, 1.0) == -2.0
    assert side_of["y", "z"](-2.0, -1.0) == FAR  # the branch without abs(y)


def test_values_that_are_constant_have_no_kinks() -> None:
    assert sides_of(law, frozenset("xyzk")).functions == ()
    assert sides_of(law, frozenset("xyzk")).lines == ()


def law_of_neighbours(x, y_dot):
    """Branches that depend on indices and lengths alone."""
    last = len(x) - 1
    for i in range(last + 1):
        left = x[i - 1] if i > 0 else 0.0
        right = x[i + 1] if i < last else 0.0
        y_dot[i] = left + right + max(i, 3)
        if i > last - y_dot.shape[0]:
            y_dot[i] -= 1.0


def law_with_branches(x, n, y_dot):
    """A branch on a state, and one on an argument."""
    for i in range(len(x)):
        if x[i] > 0.0:
            y_dot[i] = float(i)
        if i > n:
            y_dot[i] = float(len(x))


def test_lengths_and_places_in_arrays_have_no_kinks() -> None:
    assert sides_of(law_of_neighbours, frozenset()).functions == ()
    assert sides_of(law_of_neighbours, frozenset()).lines == ()
    assert len(sides_of(law_with_branches, frozenset(["n"])).functions) == 1
    assert len(sides_of(law_with_branches, frozenset()).functions) == 2


def test_the_nearer_side() -> None:
    """The size of the smaller number, with the sign of the product."""
    assert nearer_side(FAR, 0.0) == NEAREST
    assert nearer_side(-3.0, 2.0) == -2.0
    assert nearer_side(-3.0, -2.0) == 2.0


class FromTables(cosim.Component):
    """Reads a table with kinks at a state, and a straight one at a parameter."""

    place = cosim.parameter(default=0.5)
    x = cosim.auxiliary_state(start=1.0)

    @cosim.kernel
    def law(place, x, x_dot):
        slope = interp(place, (0.0, 1.0), (1.0, 2.0))
        x_dot[0] = -interp(x, (0.0, 0.5, 1.0), (0.0, 0.1, 1.0)) - slope * max(x - 0.2, 0.0)


def test_kinks_of_tables_are_reported_as_missed() -> None:
    assert len(FromTables.kink_functions) == 1  # that of `max`
    missed = kit.missed_kinks(FromTables.kernels, FromTables.arguments, FromTables.declarations)
    assert missed == [f"law:{FromTables.kernels['law'].function.__code__.co_firstlineno + 3}"]
