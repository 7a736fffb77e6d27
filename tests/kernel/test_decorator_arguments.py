"""Decorators and declarations of components: what they refuse, and their two ways of taking options."""

import functools

import pytest

import cosim
from cosim_mechanics import Force


def first(height):
    return height


def count(n, n_next):
    n_next[0] = n + 1


def wrapped(function):
    """A decorator of an author, in the common form."""

    @functools.wraps(function)
    def wrapper(*arguments, **options):
        return function(*arguments, **options)

    return wrapper


@pytest.mark.parametrize(
    ("make", "is_now"),
    [
        (lambda: cosim.witness(cosim.kernel(first)), "a kernel function"),
        (lambda: cosim.witness(direction="falling")(cosim.kernel(first)), "a kernel function"),
        (lambda: cosim.kernel(cosim.witness(first)), "a witness"),
        (lambda: cosim.kernel(cosim.kernel(first)), "a kernel function"),
        (lambda: cosim.update(cosim.kernel(first)), "a kernel function"),
        (lambda: cosim.witness(first).rate(cosim.kernel(first)), "a kernel function"),
        (lambda: cosim.kernel(cosim.every(0.1, does="discrete")(first)), "a handler"),
        (lambda: cosim.every(0.2, does="discrete")(cosim.every(0.1, does="discrete")(first)), "a handler"),
        (lambda: cosim.every(0.2, does="discrete")(cosim.witness(first)), "a witness"),
        (lambda: cosim.every(0.2, does="discrete")(cosim.update(first)), "an auto-update"),
        (
            lambda: cosim.on(cosim.EventCause.INITIALIZATION, does="publish")(cosim.witness(first)),
            "a witness",
        ),
    ],
)
def test_a_second_decorator_of_cosim_is_refused(make, is_now):
    with pytest.raises(cosim.ContractError) as caught:
        make()
    text = str(caught.value)
    assert f"this is {is_now} (first) already: write one decorator of cosim above each function" in text
    assert "test_decorator_arguments.py:" in text
    assert "KernelFunction(" not in text


def test_a_bare_kernel_decorator_below_that_of_a_handler_is_allowed():
    inner = cosim.kernel(first)
    handler = cosim.every(0.1, does="discrete")(inner)
    assert (handler.function.role, inner.role) == ("handler", "kernel")


def test_an_authors_decorator_below_that_of_a_handler_or_witness_is_refused():
    with pytest.raises(cosim.ContractError, match="decorator is below"):
        cosim.every(0.1, does="discrete")(wrapped(count))
    with pytest.raises(cosim.ContractError, match="staticmethod is below"):
        cosim.witness(direction="falling")(staticmethod(lambda height: height))


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: cosim.kernel(3), "the decorator is applied to 3, needs a plain function"),
        (lambda: cosim.kernel(Force), "to the class Force, needs a plain function"),
        (lambda: cosim.on(cosim.kernel(first), does="publish")(count), r"not a kernel function \(first\)"),
        (lambda: cosim.on(first, does="publish")(count), "not the function first"),
        (lambda: cosim.on(cosim.discrete(), does="publish")(count), r"not a declaration \(discrete\)"),
        (lambda: cosim.every(True, does="discrete"), "period is True, needs a time in s"),
        (lambda: cosim.every([1], does="discrete"), r"period is \[1\], needs a time in s"),
        (lambda: cosim.every(1, offset=None, does="discrete"), "offset is None, needs a time in s"),
        (lambda: cosim.at(True, does="discrete"), r"cosim\.at\(True\): needs a time or a list"),
        (lambda: cosim.at(first, does="discrete"), r"cosim\.at\(the function first\): needs a time"),
        (lambda: cosim.kernel(refuses=[]), "refuses is empty"),
        (lambda: cosim.kernel(refuses=[""]), r"refuses is .*, needs a list of sentences"),
        (lambda: cosim.witness(shortest_pulse="1 kg"), "shortest_pulse: is '1 kg', needs a time"),
    ],
)
def test_a_wrong_argument_of_a_decorator_is_refused(make, text):
    with pytest.raises(cosim.ContractError, match=text) as caught:
        make()
    assert " at 0x" not in str(caught.value)


def test_options_may_be_passed_with_the_function_or_to_the_decorator():
    """`cosim.kernel(function, when="a")` is ``cosim.kernel(when="a")(function)``."""
    options = {"stage": cosim.Stage.REPORT, "when": "a", "unless": "b"}
    for plain, marked in (
        (cosim.kernel(first, **options), cosim.kernel(**options)(first)),
        (cosim.kernel(first, refuses=["no"]), cosim.kernel(refuses=["no"])(first)),
        (
            cosim.update(first, at="ahead", when="a", unless="b"),
            cosim.update(at="ahead", when="a", unless="b")(first),
        ),
    ):
        assert vars(plain) == vars(marked)
    assert cosim.update(first, at="ahead").at == "ahead"
    assert cosim.kernel(first, refuses=["no"]).role == "check"


def test_a_shortest_pulse_may_have_a_unit():
    assert cosim.witness(shortest_pulse="2 ms")(first).witness_options.shortest_pulse == 0.002


@pytest.mark.parametrize(
    ("declare", "text"),
    [
        (lambda: cosim.discrete(dtype=str), "dtype is str, needs float, int or bool"),
        (lambda: cosim.discrete(invalidates=3), "invalidates is 3, needs a Stage"),
        (lambda: cosim.discrete(invalidates="zz"), "it invalidates 'zz', but it has no option of that name"),
        (lambda: cosim.parameter(shape=-1), "shape is -1, needs numbers of elements, or names"),
        (lambda: cosim.parameter(shape=2.0), "shape is 2.0, needs"),
        (lambda: cosim.parameter(shape=True), "shape is True, needs"),
        (lambda: cosim.parameter(minimum=float("nan")), "minimum is nan, needs a number"),
        (lambda: cosim.parameter(maximum="1 N"), "maximum is '1 N', needs a number in the declared unit"),
        (lambda: cosim.parameter(minimum=0.0, above=0.0), "give minimum or above, not both"),
        (lambda: cosim.option([1, 2]), r"option\(\[1, 2\]\): needs True or False"),
        (lambda: cosim.input(unit=3), "unit is 3, needs text"),
        (
            lambda: cosim.history(of="nothing", keep="n"),
            "the history 'it' is of 'nothing', but it has no quantity of that name",
        ),
        (lambda: cosim.history(of="n", keep="nothing"), "the history 'it' is kept for 'nothing'"),
    ],
)
def test_a_wrong_argument_of_a_declaration_is_refused(declare, text):
    with pytest.raises(cosim.ContractError, match=text):
        type("Odd", (cosim.Component,), {"n": cosim.discrete(), "it": declare()})
