"""What a component's kernel functions must write and may read, and which names and units it may declare."""

import pytest

import cosim
import cosim.kit
import cosim_mechanics


def component(function, **declared):
    """A component class with one kernel function."""
    body = {"__doc__": "Test.", "kernel": cosim.kernel(function), **declared}
    return type("Part", (cosim.Component,), body)


def adds_to(out, value):
    out[0] += value


def writes_to(out, value):
    out[0] = value


# arguments


def test_an_argument_that_is_not_declared_is_refused_with_the_nearest_name():
    def kernel(stifness, out):
        out[0] = stifness

    with pytest.raises(cosim.ContractError, match="'stifness'.*neither declared nor offered.*'stiffness'"):
        component(kernel, stiffness=cosim.parameter(default=1.0), out=cosim.output())


def test_all_faults_of_a_class_are_reported_at_once():
    def kernel(x, x_dot):
        x_dot = 3 * gone  # noqa: F821, F841
        print(x)

    def other(x, out):
        out[0] = x[0]

    with pytest.raises(cosim.ContractError) as error:
        component(kernel, x=cosim.position(), out=cosim.output(), other=cosim.kernel(other))
    assert [line.partition(": ")[2].partition(": ")[2] for line in str(error.value).splitlines()] == [
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
def test_a_view_is_not_a_number(through_helper):
    def direct(x, out):
        out[0] = 2.0 * x

    def helped(x, out):
        out[0] = squares(x)

    with pytest.raises(cosim.ContractError, match=r"3 numbers: compute.*, x\[0\]"):
        component(helped if through_helper else direct, x=cosim.parameter(shape=3), out=cosim.output())


# results


def test_assigning_to_the_name_of_a_result_is_refused():
    def kernel(t, out):
        out = t  # noqa: F841

    with pytest.raises(cosim.ContractError, match=r"changes nothing outside.*write out\[0\] = …"):
        component(kernel, out=cosim.output())


def test_writing_to_a_parameter_is_refused():
    def kernel(gain, out):
        gain[0] = 1.0
        out[0] = 1.0

    with pytest.raises(cosim.ContractError, match="gain may only be read"):
        component(kernel, gain=cosim.parameter(default=1.0, shape=1), out=cosim.output())


def test_writing_to_a_state_through_a_helper_is_refused():
    def kernel(x, x_dot):
        writes_to(x, 1.0)
        x_dot[0] = 1.0

    with pytest.raises(cosim.ContractError, match="x may only be read"):
        component(kernel, x=cosim.position(shape=1))


def test_setting_an_accumulator_is_refused():
    def kernel(t, total):
        total[0] = t

    with pytest.raises(cosim.ContractError, match=r"add.*\(total\[0\] \+= …\)"):
        component(kernel, total=cosim.cache_slot(accumulates=True))


def test_adding_to_a_slot_that_is_not_an_accumulator_is_refused():
    def kernel(t, total):
        adds_to(total, t)

    with pytest.raises(cosim.ContractError, match="accumulates=True"):
        component(kernel, total=cosim.cache_slot())


def test_a_kernel_function_returns_nothing():
    def kernel(x, out):
        return 2.0 * x

    with pytest.raises(cosim.ContractError, match=r"returns is lost; .*out\[0\] = …"):
        component(kernel, x=cosim.parameter(), out=cosim.output())


def test_the_refusal_of_a_returned_force_names_the_force_to_add_to():
    def kernel(x, X_GB2):
        return -x * X_GB2[9]

    body = {"__doc__": "Test.", "x": cosim.parameter(), "kernel": cosim.kernel(kernel)}
    with pytest.raises(cosim.ContractError, match=r"ask for F_GB2 .* write F_GB2\[0\] \+= …"):
        type("Part", (cosim_mechanics.ForceElement,), body)


def test_a_derivative_that_is_never_written_is_refused():
    def kernel(x, v, x_dot, v_dot):
        x_dot[0] = v

    with pytest.raises(cosim.ContractError, match="v_dot.*never written"):
        component(kernel, x=cosim.position(), v=cosim.speed())


def test_a_function_without_an_effect_is_refused():
    def kernel(x, out):
        y = 2.0 * x + out[0]  # noqa: F841

    with pytest.raises(cosim.ContractError, match="computes stays"):
        component(kernel, x=cosim.parameter(), out=cosim.output(shape=1))


def test_a_function_that_only_raises_has_an_effect():
    def kernel(x):
        if x < 0.0:
            raise ValueError("x is negative")

    component(kernel, x=cosim.parameter())


def test_two_writers_of_one_slot_are_refused():
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


def test_two_writers_are_right_where_an_option_chooses_one():
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


# declarations


def test_a_wrong_unit_is_refused_with_the_line_of_its_declaration():
    with pytest.raises(cosim.ContractError, match=r"test_component_functions.py:\d+: unit 'Nm/rad'.*N\.m"):
        cosim.parameter(unit="Nm/rad")
    with pytest.raises(cosim.ContractError, match=r"test_component_functions.py:\d+: 2 units for 3 elements"):
        cosim.parameter(unit=["N", "m"], shape=3)
    with pytest.raises(cosim.ContractError, match="unit 'Nm'"):
        cosim.source(unit="Nm")
    with pytest.raises(cosim.ContractError, match="the unit of x.*unit 'sec'"):
        component(lambda t: t, x=cosim.parameter(unit="{out}/sec"), out=cosim.output(), kernel=None)


def test_an_array_has_as_many_names_of_elements_as_elements() -> None:
    assert cosim.parameter(shape=3, elements="xyz").elements == ("x", "y", "z")
    for wrong in ({"shape": 3, "elements": "xy"}, {"elements": "xy"}):
        with pytest.raises(
            cosim.ContractError, match=r"test_component_functions.py:\d+: . names of elements"
        ):
            cosim.position(**wrong)


def test_an_option_in_model_exchange_replaces_a_choice_by_a_choice() -> None:
    for wrong in ({"yes": "maybe"}, {"maybe": "no"}):
        with pytest.raises(cosim.ContractError, match="'maybe'.*choices"):
            cosim.option("yes", choices=("yes", "no"), in_model_exchange=wrong)


@pytest.mark.parametrize("name", ["t", "name", "values", "side", "state", "switch", "signals", "kernels"])
def test_a_reserved_name_cannot_be_declared(name):
    with pytest.raises(cosim.ContractError, match=f"'{name}' is taken"):
        type("Part", (cosim.Component,), {"__doc__": "Test.", name: cosim.parameter()})


@pytest.mark.parametrize("name", ["switch", "signals", "arguments"])
def test_a_reserved_name_cannot_be_that_of_a_function(name):
    handler = cosim.on(cosim.EventCause.TIME_ADVANCED, does="discrete")(lambda self, state, next_state: None)
    for function in (handler, cosim.kernel(lambda x, y: None), cosim.witness(lambda x: x)):
        with pytest.raises(cosim.ContractError, match=f"'{name}' is taken"):
            type("Part", (cosim.Component,), {"__doc__": "Test.", name: function})


def test_a_signal_beyond_the_end_of_its_slot_is_refused():
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
def test_a_wrong_argument_of_a_decorator_is_refused(make, text):
    with pytest.raises(cosim.ContractError, match=text):
        make()


# classes from text


def test_a_class_in_a_text_is_made_by_run_source_not_by_exec():
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
    made_class = cosim.kit.run_source(text)["Made"]
    with pytest.raises(cosim.ContractError, match=r"<source \d+>:8: Made.derivatives: 'gone' is not defined"):
        cosim.kit.run_source(text.replace("-x", "gone"))
    model = cosim.Model("made")
    model.add(made_class, "part", x=2.0)
    assert model.build().default_state().realize()["part.x_dot"] == -2.0
