"""The rules for kernel functions: each one is reported with the offending line."""

import math

import numpy as np
import pytest

import cosim
from cosim.component.kernel_rules import check_rules, effects_of

HELPERS = math  # a module that is not called math by its name


def small_helper(x):
    return x * x


def helper_with_power(x):
    return x**2  # offends


def adds_to(out, value):
    out[0] += value


def writes_to(out, value):
    out[0] = value


def a_list(x, out):
    v = [x, x]  # offends
    out[0] = v[0]


def a_list_comprehension(x, out):
    v = tuple([x for _ in range(3)])  # noqa: C409 - offends
    out[0] = v[0]


def a_dict(x, out):
    v = {0: x}  # offends
    out[0] = v[0]


def a_dict_comprehension(x, out):
    v = {i: x for i in range(2)}  # noqa: C420 - offends
    out[0] = v[0]


def a_set(x, out):
    out[0] = x if x in {1.0, 2.0} else 0.0  # offends


def a_set_comprehension(x, out):
    out[0] = len({x for _ in range(2)})  # offends


def a_generator(x, out):
    out[0] = sum(x for _ in range(3))  # offends


def a_lambda(x, out):
    out[0] = (lambda y: y)(x)  # offends


def a_try(x, out):
    try:  # offends
        out[0] = 1.0 / x
    except ZeroDivisionError:
        out[0] = 0.0


def a_with(x, out):
    with x:  # offends
        out[0] = 1.0


def an_f_string(x, out):
    raise ValueError(f"x is {x}")  # offends


def a_nested_function(x, out):
    def inner():  # offends
        return x

    out[0] = inner()


def a_global(x, out):
    global HELPERS  # offends  # noqa: PLW0602
    out[0] = x


def a_power(x, out):
    out[0] = x**2  # offends


def an_augmented_power(x, out):
    y = x
    y **= 2  # offends
    out[0] = y


def numpy_inside(x, out):
    out[0] = np.sin(x)  # offends


def a_module_attribute(x, out):
    out[0] = cosim.units.conversion(x, x)  # offends


OFFENDERS = [
    a_list, a_list_comprehension, a_dict, a_dict_comprehension, a_set, a_set_comprehension, a_generator,
    a_lambda, a_try, a_with, an_f_string, a_nested_function, a_global, a_power, an_augmented_power,
    numpy_inside, a_module_attribute,
]  # fmt: skip


def offending_line(function):
    import inspect

    lines, first = inspect.getsourcelines(function)
    return next(first + i for i, line in enumerate(lines) if "offends" in line)


@pytest.mark.parametrize("function", OFFENDERS, ids=lambda f: f.__name__)
def test_forbidden_things_are_named_with_their_line(function):
    with pytest.raises(cosim.ContractError) as raised:
        check_rules(function)
    assert str(raised.value).startswith(f"{__file__}:{offending_line(function)}: {function.__name__}: ")


def test_the_rules_hold_for_helpers_too():
    def kernel(x, out):
        out[0] = helper_with_power(x)

    with pytest.raises(cosim.ContractError, match="helper_with_power.*math.pow"):
        check_rules(kernel)


def test_what_is_allowed():
    def kernel(x, v, out):
        total = 0.0
        for i in range(3):
            total += v[i] * small_helper(x)
        a, b = (total, math.pow(x, 0.5))
        if a > b:
            raise ValueError("constant text")
        while a < b and not math.isnan(a):
            a = b
        out[0] = a if a > 0.0 else -a

    check_rules(kernel)


def component(function, **declared):
    """A component class with one kernel function."""
    body = {"__doc__": "Test.", "kernel": cosim.kernel(function), **declared}
    return type("Part", (cosim.Component,), body)


def test_an_unknown_name_suggests_the_nearest():
    def kernel(stifness, out):
        out[0] = stifness

    with pytest.raises(
        cosim.ContractError, match="nobody provides 'stifness'; nearest: 'stiffness'.*may ask for"
    ):
        component(kernel, stiffness=cosim.parameter(default=1.0), out=cosim.output())


def test_a_result_is_a_view():
    def kernel(t, out):
        out = t  # noqa: F841

    with pytest.raises(cosim.ContractError, match=r"changes nothing outside.*write out\[0\] = …"):
        component(kernel, out=cosim.output())


def test_a_parameter_is_only_read():
    def kernel(gain, out):
        gain[0] = 1.0
        out[0] = 1.0

    with pytest.raises(cosim.ContractError, match="gain may be read only"):
        component(kernel, gain=cosim.parameter(default=1.0, shape=1), out=cosim.output())


def test_a_state_is_only_read_even_through_a_helper():
    def kernel(x, x_dot):
        writes_to(x, 1.0)
        x_dot[0] = 1.0

    with pytest.raises(cosim.ContractError, match="x may be read only"):
        component(kernel, x=cosim.position(shape=1))


def test_an_accumulator_is_only_added_to():
    def kernel(t, total):
        total[0] = t

    with pytest.raises(cosim.ContractError, match=r"only add to it \(total\[0\] \+= …\)"):
        component(kernel, total=cosim.cache_slot(accumulates=True))


def test_a_slot_that_is_only_added_to_is_an_accumulator():
    def kernel(t, total):
        adds_to(total, t)

    with pytest.raises(cosim.ContractError, match="accumulates=True"):
        component(kernel, total=cosim.cache_slot())


def test_two_writers_of_one_slot():
    with pytest.raises(cosim.ContractError, match=r"both first\(\) and second\(\) write out"):

        class Twice(cosim.Component):
            """Test."""

            out = cosim.output()

            @cosim.kernel
            def first(t, out):
                out[0] = t

            @cosim.kernel
            def second(t, out):
                out[0] = -t


def test_two_writers_that_an_option_chooses_between():
    class Choice(cosim.Component):
        """Test."""

        out = cosim.output()
        reverse = cosim.option(False)

        @cosim.kernel(unless="reverse")
        def first(t, out):
            out[0] = t

        @cosim.kernel(when="reverse")
        def second(t, out):
            out[0] = -t

    for reverse, expected in ((False, 2.0), (True, -2.0)):
        model = cosim.Model("choice")
        model.add(Choice, "choice", reverse=reverse)
        state = model.build().default_state()
        state.set_time(2.0)
        assert state.realize()["choice"] == expected


def test_effects_are_found_through_helpers():
    def kernel(x, out, total, other):
        adds_to(total, x)
        writes_to(out, x)
        other[0], y = x, x
        x = y

    effects = effects_of(kernel)
    assert (effects.writes, effects.adds) == ({"out", "other"}, {"total"})
    assert set(effects.rebinds) == {"x"}


@pytest.mark.parametrize("name", ["t", "name", "values", "side", "state"])
def test_reserved_names(name):
    with pytest.raises(cosim.ContractError, match=f"'{name}' is taken"):
        type("Part", (cosim.Component,), {"__doc__": "Test.", name: cosim.parameter()})


def test_signals_name_declared_slots():
    with pytest.raises(cosim.ContractError, match=r"names X_GB\[20\]"):
        type(
            "Part",
            (cosim.Component,),
            {"__doc__": "T.", "X_GB": cosim.cache_slot(shape=12), "signals": {"x": ("X_GB", 20, "m")}},
        )


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: cosim.on(cosim.EventCause.SCHEDULED, does="publish")(lambda self, state: None),
            "needs what",
        ),
        (lambda: cosim.on("floor", does="publish")(lambda self, state: None), "EventCause, a witness"),
        (lambda: cosim.on(cosim.EventCause.TERMINATION, does="shout"), "one of unrestricted"),
        (lambda: cosim.witness(direction="up"), "one of rising, falling, both"),
        (lambda: cosim.kernel(3), "plain function"),
    ],
)
def test_wrong_decorators(make, text):
    with pytest.raises(cosim.ContractError, match=text):
        make()
