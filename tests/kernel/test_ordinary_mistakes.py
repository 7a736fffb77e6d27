"""Mistakes that authors make, each answered where the class is made, with file, line and remedy."""

import math

import pytest

import cosim
import cosim_mechanics
from cosim.kit import run_source


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
def test_a_default_outside_of_its_own_bounds_shape_or_type(options, text):
    with pytest.raises(cosim.ContractError, match=rf"test_ordinary_mistakes.py:\d+: {text}"):

        class Part(cosim.Component):
            """A part."""

            gain = cosim.parameter(**options)


def test_an_attribute_of_the_class_is_no_argument_of_a_kernel_function():
    with pytest.raises(cosim.ContractError) as raised:

        class Part(cosim.Component):
            """A part. Law: y = factor t."""

            factor = 3.0
            past = []
            y = cosim.output()

            @cosim.kernel
            def law(t, y):
                past.append(t)  # noqa: F821
                y[0] = factor * t  # noqa: F821

    text = str(raised.value)
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


def test_a_discrete_handler_cannot_write_a_state():
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


def test_an_unknown_coordinate():
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
def test_a_declaration_cannot_have_the_name_that_another_one_brings(declared):
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
    ("line", "answer"),
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
def test_code_that_cannot_be_compiled_is_answered_in_one_sentence(line, answer):
    text = (
        "import cosim, numpy as np, scipy\nclass Wrong(cosim.Component):\n    'Wrong.'\n"
        "    x = cosim.input(unit='1')\n    y = cosim.output(unit='1')\n"
        f"    @cosim.kernel\n    def law(x, y):\n        {line}\n"
    )
    with pytest.raises(cosim.ContractError) as raised:
        run_source(text)
    assert answer in str(raised.value) and len(str(raised.value).splitlines()) == 1
