"""What kernel functions must not contain: each fault is reported with its line."""

import inspect
import math

import numpy as np
import pytest

import cosim
from cosim_compiler.sources.kernel_rules import check_rules, rule_faults

LIST = [1.0, 2.0]
NUMBERS = (1.0, (2.0, 3))
WORDS = ("soft", "hard")


def small_helper(x):
    return x * x


def helper_with_power(x):
    return x**2  # offends


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
    global LIST  # offends  # noqa: PLW0602
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
    out[0] = LIST[0] * x  # offends


def an_appended_list(x, out):
    LIST.append(x)  # offends
    out[0] = x


def a_changed_list(x, out):
    LIST[0] = x  # offends
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


FAULTS_BEFORE_DEFINITION = rule_faults(a_helper_further_down)  # its helper does not exist yet


def further_down(x, out):
    out[0] = x


def offending_line(function):
    """The line of a function with the comment ``offends``."""
    lines, first = inspect.getsourcelines(function)
    return next(first + i for i, line in enumerate(lines) if "offends" in line)


@pytest.mark.parametrize("function", OFFENDERS, ids=lambda f: f.__name__)
def test_a_fault_is_reported_with_its_line(function):
    with pytest.raises(cosim.ContractError) as error:
        check_rules(function)
    assert str(error.value).startswith(f"{__file__}:{offending_line(function)}: {function.__name__}: ")


def test_a_helper_that_is_defined_below_the_class_is_refused():
    (fault,) = FAULTS_BEFORE_DEFINITION
    assert fault.startswith(f"{__file__}:{offending_line(a_helper_further_down)}: a_helper_further_down: ")
    assert fault.endswith("'further_down' is defined further down; move it above the class")


def test_a_fault_in_a_helper_is_reported():
    def kernel(x, out):
        out[0] = helper_with_power(x)

    with pytest.raises(cosim.ContractError, match="helper_with_power.*math.pow"):
        check_rules(kernel)


def test_loops_tuples_math_and_helpers_break_no_rule():
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


def test_names_that_have_a_value_on_every_path_break_no_rule():
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
