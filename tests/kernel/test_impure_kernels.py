"""Kernel functions that call themselves, read a clock or draw random numbers are refused."""

import random
import time
from time import perf_counter

import pytest

import cosim


def factorial(n):
    return 1.0 if n <= 1.0 else n * factorial(n - 1.0)


def is_even(n):
    return 1.0 if n <= 0.0 else is_odd(n - 1.0)


def is_odd(n):
    return 0.0 if n <= 0.0 else is_even(n - 1.0)


def recursive(x, x_dot):
    x_dot[0] = factorial(x)


def in_turns(x, x_dot):
    x_dot[0] = is_even(x)


def by_clock(x, x_dot):
    x_dot[0] = time.time()


def by_counter(x, x_dot):
    x_dot[0] = perf_counter()


def by_chance(x, x_dot):
    x_dot[0] = random.random()


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (recursive, "factorial → factorial: a kernel function cannot call itself: write a loop"),
        (in_turns, "is_even → is_odd → is_even: a kernel function cannot call itself"),
        (
            by_clock,
            "time.time: a kernel function knows the time of the run alone: ask for t in its arguments",
        ),
        (by_counter, "'perf_counter': a kernel function knows the time of the run alone: ask for t"),
        (by_chance, "random.random: a kernel function is pure; random numbers come from a signal"),
    ],
)
def test_recursion_clocks_and_random_numbers(function, text):
    with pytest.raises(cosim.ContractError, match=rf"test_impure_kernels\.py:\d+: .*{text}"):
        type(
            "Block", (cosim.Component,), {"x": cosim.auxiliary_state(), "derivatives": cosim.kernel(function)}
        )


def test_a_method_in_plain_python_may_call_a_recursive_function():
    class Block(cosim.Component):
        """Plain Python."""

        x = cosim.auxiliary_state(start=3.0)

        def derivatives(self, x, x_dot):
            x_dot[0] = 0.0 * factorial(x)

    model = cosim.Model("m")
    model.add(Block, "p")
    assert model.simulate(until=0.1)["p.x"][-1] == 3.0
