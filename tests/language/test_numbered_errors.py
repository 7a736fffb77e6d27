"""Exceptions with numbers can be raised, caught and raised again, the same compiled and in plain Python."""

from __future__ import annotations

import math

import pytest

from cosim_compiler.calls import compiled_together
from cosim_compiler.errors import ContractError, NumberedError
from cosim_compiler.native import compile_function, is_plain


class StepError(NumberedError):  # noqa: N818
    """The base of two errors."""


class TooLarge(StepError):  # noqa: N818
    """Too large."""

    number = 1_000_100


class TooSmall(StepError):  # noqa: N818
    """Too small."""

    number = 1_000_101


class UnrelatedError(NumberedError):  # noqa: N818
    """An error of another base."""

    number = 1_000_200


def raises_by_size(x):
    if x > 3.0:
        raise TooLarge()
    if x > 2.0:
        raise TooSmall
    if x > 1.0:
        raise UnrelatedError()
    if x < -5.0:
        raise ValueError("far below")
    return 2.0 * x


def try_in_loop(x):
    total = 0.0
    for i in range(4):
        try:
            if i == 1:
                continue
            total += raises_by_size(x + i)
            if total > 3.0:
                break
        except StepError as trouble:
            total += float(trouble.number)
            if i == 3:
                raise
            continue
    return total


def nested_try(x):
    y = 0.0
    try:
        y = 1.0
        try:
            y = raises_by_size(x)
        except TooLarge:
            y = -1.0
    except TooSmall as trouble:
        return float(trouble.number) + y
    return y


def raised_again_behind_another(x):
    try:
        return raises_by_size(x)
    except StepError:
        try:
            raises_by_size(9.0)
        except TooLarge:
            pass
        raise


def caught_by_the_base(x):
    try:
        return nested_try(x)
    except NumberedError as error:
        return float(error.number)


def try_without_a_call(x):
    try:
        y = x + 1.0
    except StepError:
        y = math.nan
    return y


def assigned_before_and_inside(x):
    i = 0
    y = 0.5
    while True:
        try:
            y = 1.5
            y = raises_by_size(x)
            break
        except StepError:
            y += 10.0
            i += 1
            if i > 2:
                break
    return y


def raises_in_another_unit(x):
    return raises_by_size(x)


compiled_together([raises_in_another_unit], "f>f")


def across_units(x):
    try:
        return raises_in_another_unit(max(x, -5.0))
    except TooSmall as trouble:
        return -float(trouble.number)


FUNCTIONS = [
    *(raises_by_size, try_in_loop, nested_try, raised_again_behind_another, caught_by_the_base),
    *(try_without_a_call, assigned_before_and_inside, across_units),
]
NUMBERS = [-9.0, -5.0, -3.0, -1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, math.nan, math.inf]


def result_or_exception(function, x):
    try:
        return repr(float(function(x)))
    except Exception as error:
        return repr(error)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_machine_code_returns_and_raises_what_plain_python_does(function):
    compiled = compile_function(function, "f>f")
    plain, machine = ([result_or_exception(one, x) for x in NUMBERS] for one in (function, compiled))
    assert machine == plain
    assert len(set(plain)) > 2


def test_an_exception_is_caught_by_its_class_or_base():
    assert caught_by_the_base(1.5) == UnrelatedError.number
    assert nested_try(3.5) == -1.0 and nested_try(2.5) == TooSmall.number + 1.0
    assert repr(compile_function(caught_by_the_base, "f>f")(1.5)) == repr(float(UnrelatedError.number))


def test_two_classes_with_one_number_are_refused():
    with pytest.raises(ContractError, match="TooLarge.*number 1000100"):

        class Twin(NumberedError):  # noqa: N818
            """Too large, too."""

            number = TooLarge.number


def with_finally(x):
    try:
        return raises_by_size(x)
    finally:
        x = 0.0


def without_a_class(x):
    try:
        return raises_by_size(x)
    except:  # noqa: E722
        return 0.0


def catches_pythons_error(x):
    try:
        return raises_by_size(x)
    except ValueError:
        return 0.0


def leaves_name_unset(x):
    try:
        y = raises_by_size(x)
    except StepError:
        pass
    return y


@pytest.mark.skipif(is_plain(), reason="plain Python compiles nothing")
@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (with_finally, "write try: …, and one except of a NumberedError"),
        (without_a_class, "write try: …, and one except of a NumberedError"),
        (catches_pythons_error, "write try: …, and one except of a NumberedError"),
        (leaves_name_unset, "'y' may have no value here"),
    ],
)
def test_finally_and_other_exceptions_are_refused(function, sentence):
    with pytest.raises(ContractError, match=sentence):
        compile_function(function, "f>f")
