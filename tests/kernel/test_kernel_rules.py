"""The rules for kernel functions: each one is reported with the offending line."""

import math

import numpy as np
import pytest

import cosim
import cosim.kit
import cosim_mechanics
from cosim_compiler.language.flows import flows_of
from cosim_compiler.language.program import Program
from cosim_compiler.language.types import REAL, WHOLE, View
from cosim_compiler.record import Record, rows_of
from cosim_compiler.sources.kernel_effects import effects_of
from cosim_compiler.sources.kernel_rules import check_rules, rule_faults

HELPERS = math  # a module that is not called math by its name
SEEN = [1.0, 2.0]
NUMBERS = (1.0, (2.0, 3))
WORDS = ("soft", "hard")


def small_helper(x):
    return x * x


def helper_with_power(x):
    return x**2  # offends


def adds_to(out, value):
    out[0] += value


def writes_to(out, value):
    out[0] = value


def adds_to_a_part(out, value):
    part = out[3:6]
    adds_to(part, value)


def writes_to_a_part_of_a_part(out, value):
    part = out[0:3]
    inner = part[1:3]
    inner[0] = value


def first_two(out):
    return out[0:2]


def writes_to_a_returned_part(out, value):
    part = first_two(out)
    part[0] = value


def reads_a_part(out, value):
    part = out[0:3]
    value[0] = part[1]


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


def a_default(
    x,
    out,
    gain=3.0,  # offends
):
    out[0] = gain * x


def text_inside(x, out):
    out[0] = x if x == "soft" else 0.0  # offends


def a_print(x, out):
    print(x)  # offends
    out[0] = x


def an_unknown_name(x, out):
    out[0] = stifness * x  # noqa: F821 - offends


def a_list_of_the_module(x, out):
    out[0] = SEEN[0] * x  # offends


def an_appended_list(x, out):
    SEEN.append(x)  # offends
    out[0] = x


def a_changed_list(x, out):
    SEEN[0] = x  # offends
    out[0] = x


def a_tuple_of_text(x, out):
    out[0] = x * len(WORDS)  # offends


def a_method(x, out):
    out[0] = x.bit_length()  # offends


def an_unknown_function_of_math(x, out):
    out[0] = math.sine(x)  # offends


def an_uncompiled_function_of_math(x, out):
    out[0] = math.comb(3, 2) * x  # offends


def a_builtin(x, out):
    out[0] = sorted((x, 1.0))[0]  # offends


def a_class(x, out):
    out[0] = np.float64  # offends


def an_import(x, out):
    import cmath  # offends

    out[0] = cmath.phase(x)


def a_slice_that_is_set(x, out):
    out[0:2] = (x, x)  # offends


def a_self(x, out):
    out[0] = self.gain * x  # noqa: F821 - offends


def an_imaginary_number(x, out):
    out[0] = abs(x + 1j)  # offends


def a_name_without_value(x, out):
    if x > 0.0:
        y = 1.0
    out[0] = y  # offends


def a_name_without_value_after_a_loop(x, out):
    for i in range(int(x)):
        y = 1.0 + i
    out[0] = y  # offends


def a_helper_further_down(x, out):
    further_down(x, out)  # offends


def an_augmented_name_without_value(x, out):
    for i in range(3):
        total += i * x  # noqa: F821 - offends
    out[0] = total


OFFENDERS = [
    a_default, text_inside, a_print, an_unknown_name, a_list_of_the_module, an_appended_list, a_changed_list,
    a_tuple_of_text, a_method, an_unknown_function_of_math, an_uncompiled_function_of_math,
    a_builtin, a_class,
    an_import, a_slice_that_is_set, a_self, an_imaginary_number, a_name_without_value,
    a_name_without_value_after_a_loop, an_augmented_name_without_value,
    a_list, a_list_comprehension, a_dict, a_dict_comprehension, a_set, a_set_comprehension, a_generator,
    a_lambda, a_try, a_with, an_f_string, a_nested_function, a_global, a_power, an_augmented_power,
    numpy_inside, a_module_attribute,
]  # fmt: skip


TOLD_EARLY = rule_faults(a_helper_further_down)


def further_down(x, out):
    out[0] = x


def offending_line(function):
    import inspect

    lines, first = inspect.getsourcelines(function)
    return next(first + i for i, line in enumerate(lines) if "offends" in line)


@pytest.mark.parametrize("function", OFFENDERS, ids=lambda f: f.__name__)
def test_forbidden_things_are_named_with_their_line(function):
    with pytest.raises(cosim.ContractError) as raised:
        check_rules(function)
    assert str(raised.value).startswith(f"{__file__}:{offending_line(function)}: {function.__name__}: ")


def test_a_helper_stands_above_the_class():
    (said,) = TOLD_EARLY
    assert said.startswith(f"{__file__}:{offending_line(a_helper_further_down)}: a_helper_further_down: ")
    assert said.endswith("'further_down' is defined further down; move it above the class")


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


def test_what_is_allowed_with_names():
    def kernel(x, out):
        for _ in range(2):
            last = x
        if x > 0.0:
            y = last
        elif x < -1.0:
            raise ValueError("constant text")
        else:
            y = NUMBERS[0] + NUMBERS[1][0]
        while True:
            z = y
            break
        out[0] = z + math.pi

    check_rules(kernel)


def test_all_faults_of_a_function_and_of_a_class_come_together():
    def kernel(x, x_dot):
        x_dot = 3 * gone  # noqa: F821, F841
        print(x)

    def other(x, out):
        out[0] = x[0]

    with pytest.raises(cosim.ContractError) as raised:
        component(kernel, x=cosim.position(), out=cosim.output(), other=cosim.kernel(other))
    assert [line.partition(": ")[2].partition(": ")[2] for line in str(raised.value).splitlines()] == [
        "'gone' is not defined",
        "a kernel function cannot use print; set COSIM_DEBUG=1: there print() and breakpoint() work",
        "`x_dot = …` changes nothing outside; a result is a view: write x_dot[0] = …",
        "x is a number here: write x, not x[0]; what is only read and declared without a shape has no "
        "elements",
    ]


def subscripts(v):
    return v[0] + v[1]


def squares(v):
    return v * v


@pytest.mark.parametrize("through_helper", [False, True])
def test_a_number_has_no_elements(through_helper):
    def direct(x, out):
        out[0] = 2.0 * x[0]

    def helped(x, out):
        out[0] = subscripts(x)

    with pytest.raises(cosim.ContractError, match=r"number here: write.*x\[0\]"):
        component(helped if through_helper else direct, x=cosim.parameter(), out=cosim.output())


@pytest.mark.parametrize("through_helper", [False, True])
def test_a_view_is_no_number(through_helper):
    def direct(x, out):
        out[0] = 2.0 * x

    def helped(x, out):
        out[0] = squares(x)

    with pytest.raises(cosim.ContractError, match=r"3 numbers: compute.*, x\[0\]"):
        component(helped if through_helper else direct, x=cosim.parameter(shape=3), out=cosim.output())


def test_what_is_returned_is_lost():
    def kernel(x, out):
        return 2.0 * x

    with pytest.raises(cosim.ContractError, match=r"returns is lost; .*out\[0\] = …"):
        component(kernel, x=cosim.parameter(), out=cosim.output())


def test_a_returned_force_names_the_force():
    def kernel(x, X_GB2):
        return -x * X_GB2[9]

    made = {"__doc__": "Test.", "x": cosim.parameter(), "kernel": cosim.kernel(kernel)}
    with pytest.raises(cosim.ContractError, match=r"ask for F_GB2 .* write F_GB2\[0\] \+= …"):
        type("Part", (cosim_mechanics.ForceElement,), made)


def test_a_derivative_is_written():
    def kernel(x, v, x_dot, v_dot):
        x_dot[0] = v

    with pytest.raises(cosim.ContractError, match="v_dot.*never written"):
        component(kernel, x=cosim.position(), v=cosim.speed())


def test_a_function_does_something():
    def kernel(x, out):
        y = 2.0 * x + out[0]  # noqa: F841

    with pytest.raises(cosim.ContractError, match="computes stays"):
        component(kernel, x=cosim.parameter(), out=cosim.output(shape=1))


def test_a_function_that_only_checks_does_something():
    def kernel(x):
        if x < 0.0:
            raise ValueError("x is negative")

    component(kernel, x=cosim.parameter())


def test_text_is_run_with_its_source():
    text = """
import cosim
class Made(cosim.Component):
    'Made from text.'
    x = cosim.position(unit="m")
    @cosim.kernel
    def derivatives(x, x_dot):
        x_dot[0] = -x
"""
    with pytest.raises(cosim.ContractError, match="instead of exec.* cosim.kit.run_source"):
        exec(text, {})
    made = cosim.kit.run_source(text)["Made"]
    with pytest.raises(cosim.ContractError, match=r"<source \d+>:8: Made.derivatives: 'gone' is not defined"):
        cosim.kit.run_source(text.replace("-x", "gone"))
    model = cosim.Model("made")
    model.add(made, "part", x=2.0)
    assert model.build().default_state().realize()["part.x_dot"] == -2.0


def test_units_are_read_where_they_are_written():
    with pytest.raises(cosim.ContractError, match=r"test_kernel_rules.py:\d+: unit 'Nm/rad'.*N\.m"):
        cosim.parameter(unit="Nm/rad")
    with pytest.raises(cosim.ContractError, match=r"test_kernel_rules.py:\d+: 2 units for 3 elements"):
        cosim.parameter(unit=["N", "m"], shape=3)
    with pytest.raises(cosim.ContractError, match="unit 'Nm'"):
        cosim.source(unit="Nm")
    with pytest.raises(cosim.ContractError, match="the unit of x.*unit 'sec'"):
        component(lambda t: t, x=cosim.parameter(unit="{out}/sec"), out=cosim.output(), kernel=None)


def test_names_of_elements_are_as_many_as_these() -> None:
    assert cosim.parameter(shape=3, elements="xyz").elements == ("x", "y", "z")
    for wrong in ({"shape": 3, "elements": "xy"}, {"elements": "xy"}):
        with pytest.raises(cosim.ContractError, match=r"test_kernel_rules.py:\d+: . names of elements"):
            cosim.position(**wrong)


def test_what_stands_for_a_choice_in_model_exchange_is_a_choice() -> None:
    for wrong in ({"yes": "maybe"}, {"maybe": "no"}):
        with pytest.raises(cosim.ContractError, match="'maybe'.*choices"):
            cosim.option("yes", choices=("yes", "no"), in_model_exchange=wrong)


def component(function, **declared):
    """A component class with one kernel function."""
    body = {"__doc__": "Test.", "kernel": cosim.kernel(function), **declared}
    return type("Part", (cosim.Component,), body)


def test_an_unknown_name_suggests_the_nearest():
    def kernel(stifness, out):
        out[0] = stifness

    with pytest.raises(cosim.ContractError, match="'stifness'.*neither declared nor offered.*'stiffness'"):
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

    with pytest.raises(cosim.ContractError, match="gain may only be read"):
        component(kernel, gain=cosim.parameter(default=1.0, shape=1), out=cosim.output())


def test_a_state_is_only_read_even_through_a_helper():
    def kernel(x, x_dot):
        writes_to(x, 1.0)
        x_dot[0] = 1.0

    with pytest.raises(cosim.ContractError, match="x may only be read"):
        component(kernel, x=cosim.position(shape=1))


def test_an_accumulator_is_only_added_to():
    def kernel(t, total):
        total[0] = t

    with pytest.raises(cosim.ContractError, match=r"add.*\(total\[0\] \+= …\)"):
        component(kernel, total=cosim.cache_slot(accumulates=True))


def test_a_slot_that_is_only_added_to_is_an_accumulator():
    def kernel(t, total):
        adds_to(total, t)

    with pytest.raises(cosim.ContractError, match="accumulates=True"):
        component(kernel, total=cosim.cache_slot())


def test_two_writers_of_one_slot():
    with pytest.raises(cosim.ContractError, match=r"first\(\).*second\(\) write out"):

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


class Pair(Record):
    """Two numbers."""

    first: float
    second: float


def pair_of(x, i):
    return rows_of(Pair, x, 2 * i, 1)[0]


def test_effects_on_records_are_those_on_the_arguments_that_they_lie_in():
    def kernel(x, i, total, out, read):
        pair_of(x, i).first = 2.0
        rows_of(Pair, total, 0, 1)[0].second += pair_of(read, i).first
        pair = pair_of(out, i)
        pair.second = 1.0

    effects = effects_of(kernel)
    assert (effects.writes, effects.adds) == ({"x", "out"}, {"total"})
    assert effects.records == {"pair"}
    assert effects_of(pair_of).lies_in == {"x"}


def test_what_is_stored_in_a_record_flows_into_the_argument_that_it_lies_in():
    def kernel(x, out, i, value):
        pair_of(x, i).first = value
        pair = pair_of(out, 0)
        pair.second = i

    kinds = View(REAL, 1, None), View(REAL, 1, None), WHOLE, REAL
    flows = flows_of(Program().function(kernel, kinds))
    assert {("value", -1), ("i", -1)} <= flows["x", -1]
    assert ("i", -1) in flows["out", -1]
    assert {name for name, _ in flows} == {"x", "out"}


def test_only_records_have_fields():
    def good(x, y):
        pair = pair_of(x, 0)
        y[0] = pair.first

    def bad(x, y):
        pair = x[0]
        y[0] = pair.first

    assert not rule_faults(good)
    assert "pair.first cannot be compiled" in "".join(rule_faults(bad))


@pytest.mark.parametrize("name", ["t", "name", "values", "side", "state", "switch", "signals", "kernels"])
def test_reserved_names(name):
    with pytest.raises(cosim.ContractError, match=f"'{name}' is taken"):
        type("Part", (cosim.Component,), {"__doc__": "Test.", name: cosim.parameter()})


@pytest.mark.parametrize("name", ["switch", "signals", "arguments"])
def test_names_that_no_function_may_have(name):
    handler = cosim.on(cosim.EventCause.TIME_ADVANCED, does="discrete")(lambda self, state, next_state: None)
    for function in (handler, cosim.kernel(lambda x, y: None), cosim.witness(lambda x: x)):
        with pytest.raises(cosim.ContractError, match=f"'{name}' is taken"):
            type("Part", (cosim.Component,), {"__doc__": "Test.", name: function})


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
            "needs a trigger",
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


@pytest.mark.parametrize(
    ("function", "writes", "adds"),
    [
        (adds_to_a_part, set(), {"out"}),
        (writes_to_a_part_of_a_part, {"out"}, set()),
        (writes_to_a_returned_part, {"out"}, set()),
        (reads_a_part, {"value"}, set()),
    ],
)
def test_what_is_stored_into_a_part_is_stored_into_the_whole(function, writes, adds):
    effects = effects_of(function)
    assert effects.writes == writes and effects.adds == adds


class PushedThroughAPart(cosim.Component):
    """A force f along z, and the power that it is told to take."""

    body = cosim_mechanics.body()
    f = cosim.parameter(unit="N", default=2.0)
    power = cosim.output(unit="W")

    @cosim.kernel
    def force(f, F_GB, power):
        part = F_GB[3:6]
        adds_to(part[2:3], f)
        power[0] = 0.0


def test_a_force_through_a_part_acts():
    """The law writes something else, too: what it adds to a part is not lost beside it."""
    model = cosim_mechanics.Multibody("m", gravity=(0.0, 0.0, 0.0))
    body = model.body("b", mass=1.0, inertia=(1.0, 1.0, 1.0))
    model.joint("free", child=body)
    model.add(PushedThroughAPart, "push", body=body)
    assert model.simulate(until=1.0)["b.vz"][-1] == pytest.approx(2.0, rel=1e-12)
