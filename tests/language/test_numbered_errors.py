"""Exceptions with numbers: raised, caught and raised again, the same in plain Python, by LLVM and by C."""

from __future__ import annotations

import math

import pytest

from cosim_compiler.calls import compiled_together
from cosim_compiler.errors import ContractError, NumberedError
from cosim_compiler.native import compile_function, is_plain


class Trouble(NumberedError):  # noqa: N818
    """Something with a step."""


class TooLarge(Trouble):  # noqa: N818
    """Too large."""

    number = 1_000_100


class TooSmall(Trouble):  # noqa: N818
    """Too small."""

    number = 1_000_101


class Other(NumberedError):  # noqa: N818
    """No trouble."""

    number = 1_000_200


def refuse(x):
    if x > 3.0:
        raise TooLarge()
    if x > 2.0:
        raise TooSmall
    if x > 1.0:
        raise Other()
    if x < -5.0:
        raise ValueError("far below")
    return 2.0 * x


def in_loops(x):
    total = 0.0
    for i in range(4):
        try:
            if i == 1:
                continue
            total += refuse(x + i)
            if total > 3.0:
                break
        except Trouble as trouble:
            total += float(trouble.number)
            if i == 3:
                raise
            continue
    return total


def inside_each_other(x):
    y = 0.0
    try:
        y = 1.0
        try:
            y = refuse(x)
        except TooLarge:
            y = -1.0
    except TooSmall as trouble:
        return float(trouble.number) + y
    return y


def raised_again_behind_another(x):
    try:
        return refuse(x)
    except Trouble:
        try:
            refuse(9.0)
        except TooLarge:
            pass
        raise


def caught_by_the_base(x):
    try:
        return inside_each_other(x)
    except NumberedError as error:
        return float(error.number)


def nothing_to_catch(x):
    try:
        y = x + 1.0
    except Trouble:
        y = math.nan
    return y


def assigned_before_and_inside(x):
    i = 0
    y = 0.5
    while True:
        try:
            y = 1.5
            y = refuse(x)
            break
        except Trouble:
            y += 10.0
            i += 1
            if i > 2:
                break
    return y


def refuse_apart(x):
    return refuse(x)


compiled_together([refuse_apart], "f>f")


def across_units(x):
    try:
        return refuse_apart(max(x, -5.0))
    except TooSmall as trouble:
        return -float(trouble.number)


FUNCTIONS = [
    *(refuse, in_loops, inside_each_other, raised_again_behind_another, caught_by_the_base),
    *(nothing_to_catch, assigned_before_and_inside, across_units),
]
NUMBERS = [-9.0, -5.0, -3.0, -1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, math.nan, math.inf]


def outcome(function, x):
    try:
        return repr(float(function(x)))
    except Exception as error:
        return repr(error)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_machine_code_does_what_plain_python_does(function):
    compiled = compile_function(function, "f>f")
    plain, machine = ([outcome(one, x) for x in NUMBERS] for one in (function, compiled))
    assert machine == plain
    assert len(set(plain)) > 2


def test_what_is_caught_is_known_by_its_class():
    assert caught_by_the_base(1.5) == Other.number
    assert inside_each_other(3.5) == -1.0 and inside_each_other(2.5) == TooSmall.number + 1.0
    assert repr(compile_function(caught_by_the_base, "f>f")(1.5)) == repr(float(Other.number))


def test_two_errors_have_two_numbers():
    with pytest.raises(ContractError, match="TooLarge.*number 1000100"):

        class Twin(NumberedError):  # noqa: N818
            """Too large, too."""

            number = TooLarge.number


def with_finally(x):
    try:
        return refuse(x)
    finally:
        x = 0.0


def without_a_class(x):
    try:
        return refuse(x)
    except:  # noqa: E722
        return 0.0


def of_python(x):
    try:
        return refuse(x)
    except ValueError:
        return 0.0


def unset(x):
    try:
        y = refuse(x)
    except Trouble:
        pass
    return y


@pytest.mark.skipif(is_plain(), reason="plain Python compiles nothing")
@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (with_finally, "write try: …, and one except of a NumberedError"),
        (without_a_class, "write try: …, and one except of a NumberedError"),
        (of_python, "write try: …, and one except of a NumberedError"),
        (unset, "'y' may have no value here"),
    ],
)
def test_what_is_refused(function, sentence):
    with pytest.raises(ContractError, match=sentence):
        compile_function(function, "f>f")
