"""Mistakes that authors make, each answered where the class is made, with file, line and remedy."""

import math

import pytest

import cosim
import cosim_mechanics
from cosim.kit import run_source
from cosim_compiler.language.out_of_bounds import check_bounds
from cosim_compiler.language.program import Program
from cosim_compiler.language.types import REAL, View

FOUR = 4


def beyond_the_end(a, y):
    for i in range(1, 4):
        y[0] += a[i]


def before_the_start(a, y):
    for i in range(3):
        y[0] += a[i - 1]


def nested(a, y):
    for i in range(3):
        for j in range(3):
            y[0] += a[3 * i + j + 1]


def by_a_constant_of_the_module(a, y):
    for i in range(FOUR):
        y[0] += a[i]


def within(a, y):
    for i in range(3):
        y[0] += a[2 - i]
    for i in range(2, -1, -1):
        y[0] += a[i]


def behind_a_condition(a, y):
    for i in range(3):
        if i > 0:
            y[0] += a[i - 1]


def left_early(a, y):
    for i in range(9):
        if a[0] > i:
            break
        y[0] += a[i]


def with_another_number(a, y):
    for i in range(9):
        i = min(i, 2)
        y[0] += a[i]


def all_of(v, n):
    total = 0.0
    for i in range(n):
        total += v[i]
    return total + v[-1]


def through_a_helper(a, y):
    y[0] = all_of(a, 3)
    y[0] += all_of(a, 4)


def through_a_part(a, y):
    y[0] = all_of(a[0:2], 2)
    y[0] += all_of(a[1:3], 3)


def of_many_turns(a, y):
    for i in range(200):
        y[0] = a[i]


def behind_a_condition_that_is_not_known(a, y):
    for i in range(4):
        if y[0] > 0.5:
            y[0] = a[i]


@pytest.mark.parametrize(
    ("function", "index"),
    [
        (beyond_the_end, (3,)),
        (before_the_start, (-1,)),
        (nested, (9,)),
        (by_a_constant_of_the_module, (3,)),
        (through_a_helper, (3,)),
        (through_a_part, (3,)),
        (of_many_turns, (199,)),
        (within, None),
        (behind_a_condition, None),
        (behind_a_condition_that_is_not_known, None),
        (left_early, None),
        (with_another_number, None),
    ],
)
def test_a_place_outside_that_a_loop_reaches(function, index):
    size = 9 if function is nested else 3
    typed = Program().function(function, (View(REAL), View(REAL)))
    found = check_bounds(typed, {"a": size, "y": 1}).out_of_bounds.get("a")
    assert (found and found.place) == index


def element(P, row, column):
    return P[row, column]


@pytest.mark.parametrize(
    ("row", "column", "is_inside"),
    [
        (0, -5, True),
        (-2, 4, True),
        (-2, -5, True),
        (0, -6, False),
        (-3, 0, False),
        (2, 0, False),
        (0, 5, False),
    ],
)
def test_a_helper_counts_from_the_end_of_each_axis(row, column, is_inside):
    """A table of two rows and five columns: the shorter axis does not bound the longer one."""

    def make():
        class Element(cosim.Component):
            """One element. Law: y = P[row, column]."""

            P = cosim.parameter(shape=(2, 5), default=[[0.0, 1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0, 9.0]])
            y = cosim.output()

            @cosim.kernel
            def law(P, y):
                y[0] = element(P, row, column)

        return Element

    if not is_inside:
        with pytest.raises(cosim.ContractError, match="P has 2 rows and 5 columns, .* is outside"):
            make()
        return
    model = cosim.Model("table")
    model.add(make(), "element")
    result = cosim.simulate(model.build(), until=0.1, signals=["element.y"])
    assert result["element.y"][0] == 5.0 * (row % 2) + column % 5


def test_a_loop_that_leaves_a_vector():
    with pytest.raises(cosim.ContractError, match=r"mistakes.py:\d+: .*law.*3 elements, \[3\]"):

        class Total(cosim.Component):
            """Sum. Law: y = a1 + a2 + a3."""

            a = cosim.parameter(shape=3)
            y = cosim.output()

            @cosim.kernel
            def law(a, y):
                total = 0.0
                for i in range(1, 4):
                    total += a[i]
                y[0] = total


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"default": -1.0, "minimum": 0.0}, "default is -1, needs at least 0"),
        ({"default": -1.0, "minimum": 0.0, "unit": "m"}, "default is -1 m, needs at least 0"),
        ({"default": 2.0, "maximum": 1.0}, "default is 2, needs at most 1"),
        ({"default": []}, r"default has shape \(0,\), needs one number"),
        ({"default": (1.0, 2.0), "shape": 3}, r"default has shape \(2,\), needs \(3,\)"),
        ({"default": "yes", "dtype": bool}, "'yes' is not a quantity"),
        ({"default": 1.5, "dtype": int}, "default is 1.5, needs an integer"),
        ({"default": math.nan}, "default is nan, needs a finite number"),
    ],
)
def test_a_default_that_no_component_could_have(options, text):
    with pytest.raises(cosim.ContractError, match=rf"test_ordinary_mistakes.py:\d+: {text}"):

        class Part(cosim.Component):
            """A part."""

            gain = cosim.parameter(**options)


def test_what_the_class_assigns_is_no_argument():
    with pytest.raises(cosim.ContractError) as caught:

        class Part(cosim.Component):
            """A part. Law: y = factor t."""

            factor = 3.0
            past = []
            y = cosim.output()

            @cosim.kernel
            def law(t, y):
                past.append(t)  # noqa: F821
                y[0] = factor * t  # noqa: F821

    text = str(caught.value)
    assert "'factor' belongs" in text and "factor = cosim.parameter(default=3.0)" in text
    assert "'past' belongs" in text and "past = cosim.discrete()" in text


def test_a_stage_that_is_text():
    with pytest.raises(cosim.ContractError, match=r"py:\d+: .*law: stage is 'report'.*=cosim.Stage.REPORT"):

        class Part(cosim.Component):
            """A part. Law: y = t."""

            y = cosim.output()

            @cosim.kernel(stage="report")
            def law(t, y):
                y[0] = t

    with pytest.raises(cosim.ContractError, match=r"py:\d+: kernel: stage.*5"):
        cosim.kernel(stage=5)


def test_a_discrete_handler_asks_for_the_next_value_of_a_state():
    with pytest.raises(cosim.ContractError, match=r"py:\d+: .*reset: a discrete handler .*x_next"):

        class Part(cosim.Component):
            """A part. Law: x' = -x."""

            x = cosim.auxiliary_state(start=1.0)

            @cosim.kernel
            def law(x, x_dot):
                x_dot[0] = -x

            @cosim.every(0.1, does="discrete")
            def reset(x_next):
                x_next[0] = 1.0


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: cosim.every(-0.1, does="discrete"), "cosim.every: period -0.1 s"),
        (
            lambda: cosim.every("10 m", does="discrete"),
            "cosim.every: period: '10 m': m cannot",
        ),
        (lambda: cosim.every(1.0, does="discret"), "a handler does one of"),
        (lambda: cosim.witness(direction="down"), "witness: direction 'down'"),
        (lambda: cosim.at([], does="discrete"), "cosim.at"),
    ],
)
def test_a_decorator_names_its_line(make, text):
    with pytest.raises(cosim.ContractError, match=rf"test_ordinary_mistakes.py:\d+: {text}"):
        make()


class Counter(cosim.Component):
    """Counts. Law: n grows by one every 100 ms, from 50 ms on."""

    n = cosim.discrete(dtype=int)

    @cosim.every("100 ms", offset="50 ms", does="discrete")
    def count(n, n_next):
        n_next[0] = n + 1


def test_a_period_with_a_unit():
    model = cosim.Model("counted")
    model.add(Counter, "counter")
    result = model.simulate(until=1.0, output_interval=0.1)
    assert result["counter.n"][-1] == 10
    assert [round(event.time, 9) for event in result.events][:2] == [0.05, 0.15]


def test_a_joint_that_is_none():
    model = cosim_mechanics.Multibody("cart")
    model.body("cart", mass=1.0, inertia=(1, 1, 1))
    model.joint("slider", name="rail", child="cart")
    model.add("mechanics.coordinate_spring", "spring", coordinate="rial", stiffness=1.0)
    with pytest.raises(cosim.ModelError, match="spring: no coordinate 'rial'"):
        model.build()


class Hyperbola(cosim_mechanics.Force):
    """Law: tau = 1 / q."""

    coordinate = cosim_mechanics.coordinate()

    @cosim.kernel
    def force(q, tau):
        tau[0] += math.pow(q, -1.0) if q != 0.0 else math.inf


@pytest.mark.parametrize("integrator", ["runge_kutta_merson", "radau5", "velocity_verlet"])
def test_an_infinite_derivative_at_the_start_names_the_variable(integrator):
    model = cosim_mechanics.Multibody("cart", gravity=(0, 0, 0))
    model.body("cart", mass=1.0, inertia=(1, 1, 1))
    model.joint("slider", name="rail", child="cart")
    model.add(Hyperbola, "wall", coordinate="rail")
    step = {"fixed_step": 1e-3} if integrator == "velocity_verlet" else {}
    with pytest.raises(cosim.SimulationError, match=r"rail\.u.*derivative is inf.*= 0"):
        model.simulate(until=1.0, integrator=f"integrators.{integrator}", **step)


CLASHES = {
    "q = cosim.parameter(default=1.0)": "'coordinate' brings the name 'q'",
    "tau = cosim.cache_slot()": "'coordinate' brings the name 'tau'",
    "x = cosim.auxiliary_state()\n    x_dot = cosim.cache_slot()": "'x' brings the name 'x_dot'",
}


@pytest.mark.parametrize("declared", CLASHES)
def test_a_name_that_would_mean_two_things(declared):
    text = (
        "import cosim, cosim_mechanics\nclass Wrong(cosim_mechanics.Force):\n    'Wrong.'\n"
        f"    coordinate = cosim_mechanics.coordinate()\n    {declared}\n"
        "    @cosim.kernel\n    def force(u, tau):\n        tau[0] -= u\n"
    )
    with pytest.raises(
        cosim.ContractError, match=rf"^(<source \d+>:5|Wrong): {CLASHES[declared]}; choose another one$"
    ):
        run_source(text)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("y[0] = (z := x)", "a kernel function cannot use `:=`; give the name its value on a line before"),
        ("y[0] = np.random.rand()", "np.random.rand: a kernel function is pure; random numbers come from"),
        ("y[0] = np.linalg.norm(x)", "np.linalg.norm cannot be compiled; write norm(…): from cosim"),
        (
            "y[0] = scipy.special.jv(0, x)",
            "cannot be compiled; import it by name: from scipy.special import jv",
        ),
    ],
)
def test_one_sentence_for_what_cannot_be_compiled(line, says):
    text = (
        "import cosim, numpy as np, scipy\nclass Wrong(cosim.Component):\n    'Wrong.'\n"
        "    x = cosim.input(unit='1')\n    y = cosim.output(unit='1')\n"
        f"    @cosim.kernel\n    def law(x, y):\n        {line}\n"
    )
    with pytest.raises(cosim.ContractError) as raised:
        run_source(text)
    assert says in str(raised.value) and len(str(raised.value).splitlines()) == 1
