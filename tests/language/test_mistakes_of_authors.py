"""Mistakes in kernel functions: each error names the file, the line, what is wrong and what to write."""

from __future__ import annotations

import collections
import functools
import math
import random
import time
from typing import Any

import numpy as np
import pytest

import cosim
from cosim.component.argument_types import types_of
from cosim_compiler.language.program import Program
from cosim_compiler.sources.run_source import run_source

HEAD = '''\
import cosim
from cosim.functions import clip, matmul, norm, zeros
GAINS = {"a": 1.0}
LIST = [1.0, 2.0]
WORDS = ("a", "b")
TIMES_TWO = lambda x: x * 2.0


def recursive(x):
    return x if x < 1.0 else recursive(x - 1.0)


def two(a, b):
    return a + b


def nothing(a):
    pass


def sometimes(a):
    if a > 0.0:
        return a


def mixed(a):
    if a > 0.0:
        return a
    return a, a


def scale(x, factor=2.0):
    return factor * x


class Part(cosim.Component):
    """Law: x' = v."""

    x = cosim.position(start=1.0)
    v = cosim.speed(start=0.0)
    gains = cosim.parameter(shape=3, default=[1.0, 2.0, 3.0])
    table = cosim.parameter(shape=(2, 2), default=[[1.0, 2.0], [3.0, 4.0]])
    n = cosim.discrete(dtype=int, start=3)
    k = cosim.parameter(default=2.0)

    @cosim.kernel
    def derivatives(t, x, v, k, n, gains, table, x_dot, v_dot):
        x_dot[0] = v
'''
FIRST_LINE_OF_BODY = HEAD.count("\n") + 1


class Helper:
    gain = 2.0

    def double(self, x: float) -> float:
        return 2.0 * x


class Dispatcher:
    """Like a dispatcher of numba: the author's function is at `py_func`."""

    __module__ = "numba.core.registry"

    def __init__(self, function: Any) -> None:
        self.py_func = function


def square(x: Any) -> Any:
    return x * x


NAMES = {
    **{module.__name__: module for module in (math, random, time, collections)},
    "np": np,
    "helper": Helper(),
    "Helper": Helper,
    "VECTOR": np.array([1.0, 2.0]),
    "fast": Dispatcher(square),
    "cached": functools.lru_cache(square),
}

MISTAKES = [
    # NumPy
    ("v_dot[0] = np.sin(x)", "np.sin cannot be compiled; write math.sin"),
    ("v_dot[0] = np.pi * x", "np.pi cannot be compiled; write math.pi"),
    ("v_dot[0] = np.clip(x, 0.0, 1.0)", "write clip(…): from cosim.functions import clip"),
    ("v_dot[0] = np.dot(gains, gains)", "write dot(…): from cosim.functions import dot"),
    ("v_dot[0] = np.linalg.norm(gains)", "write norm(…): from cosim.functions import norm"),
    ("v_dot[0] = np.maximum(x, v)", "write max(x, y)"),
    ("y = np.array((x, v))\nv_dot[0] = y[0]", "write a tuple, (x, y, z)"),
    ("v_dot[0] = x @ x", "there is no `@`; write matmul(a, b, out), or dot(a, b) of vectors"),
    ("v_dot[0] = gains.sum()", "gains.sum cannot be compiled; write a loop"),
    ("v_dot[0] = table.T[0, 1]", "write transpose(a, out): from cosim.functions import transpose"),
    ("m = zeros((2, 2))\nv_dot[0] = norm(m)", "`norm(m)`: norm() does not take a table of 2 by 2"),
    ("matmul(table, gains, table)\nv_dot[0] = x", "table may only be read"),
    ("m = zeros((2, 2))\nmatmul(m, m, x_dot)\nv_dot[0] = x", "matmul() does not take a table of 2 by 2"),
    ("m = zeros(n)\nv_dot[0] = m[0]", "`zeros(n)`: the lengths of an array are constants: write zeros(3)"),
    # statements and expressions of Python that the language does not have
    ("y = [x, v]\nv_dot[0] = y[0]", "cannot use a list; small vectors are tuples: (x, y, z)"),
    ("y = {'a': x}\nv_dot[0] = y['a']", "cannot use a dict; write names, or a tuple and its places"),
    ("y = f'{x}'\nv_dot[0] = x", "cannot use an f-string"),
    ("try:\n    v_dot[0] = 1.0 / x\nexcept ValueError:\n    v_dot[0] = 0.0", "test before you compute"),
    ("v_dot[0] = sum(g for g in gains)", "cannot use a generator; write a loop"),
    ("v_dot[0] = sum([g for g in gains])", "cannot use a list comprehension; write a loop over results"),
    ("f = lambda y: y * k\nv_dot[0] = f(x)", "cannot use a lambda; write a module-level helper function"),
    ("def inner(y):\n    return y\nv_dot[0] = inner(x)", "a nested function; write a module-level helper"),
    ("if (y := x * x) > 1.0:\n    pass\nv_dot[0] = y", "`:=`; give the name its value on a line before"),
    ("with open('f') as f:\n    pass\nv_dot[0] = x", "cannot use with; open and read before the run"),
    ("v_dot[0] = x\nyield x", "cannot use yield; write into an argument, or return a number"),
    ("match n:\n    case _:\n        v_dot[0] = x", "cannot use match; write if and elif"),
    ("import math\nv_dot[0] = math.sin(x)", "import at the top of the file"),
    ("del x\nv_dot[0] = 1.0", "cannot use del; leave it out"),
    (
        "a, *b = (x, v, k)\nv_dot[0] = a",
        "`*b = …` takes the rest of a tuple; give each item a name of its own",
    ),
    ("raise 'bad'", "raise takes an exception: raise ValueError('bad')"),
    ("v_dot[0] = x ** 2", "write x * x, or math.pow(x, y) for a real exponent"),
    ("v_dot[0] = isinstance(x, float)", "isinstance(); each name has one kind here: leave the test out"),
    ("v_dot[0] = sorted(gains)[0]", "sorted(), which makes a list"),
    ("v_dot[0] = 1.0 + 2j", "computes with reals, not with 2j"),
    # state outside the function
    ("global K\nK = x\nv_dot[0] = x", "cannot use global; a kernel function is pure"),
    ("VECTOR[0] = x\nv_dot[0] = x", "'VECTOR' belongs to the module"),
    ("v_dot[0] = GAINS['a'] * x", "'GAINS' is a dict, which a kernel function cannot use"),
    ("v_dot[0] = LIST[0] * x", "'LIST' is a list, which a kernel function cannot use; make it a tuple"),
    (
        "v_dot[0] = helper.gain * x",
        "give it a name of the module, GAIN = helper.gain, or declare a parameter",
    ),
    ("v_dot[0] = helper.double(x)", "write a function of the module, and call it by its name"),
    ("v_dot[0] = Helper().gain", "'Helper' is a class; a kernel function computes with numbers"),
    ("v_dot[0] = random.random()", "random numbers come from a signal: signals.noise"),
    ("v_dot[0] = time.time()", "ask for t in its arguments"),
    ("v_dot[0] = collections.deque()[0]", "collections.deque is a class; a kernel function computes with"),
    # helpers
    ("v_dot[0] = recursive(x)", "a kernel function cannot call itself: write a loop"),
    ("v_dot[0] = two(x)", "`two(x)`: two(a, b) is called with others: missing a required argument: 'b'"),
    ("v_dot[0] = two(x, v, k)", "`two(x, v, k)`: two(a, b) is called with others: too many positional"),
    ("v_dot[0] = two(x, b=v)", "calls helpers with positional arguments only"),
    ("v_dot[0] = scale(x)", "the argument 'factor' has a default here; give it in each call"),
    ("v_dot[0] = nothing(x)", "`nothing(x)`: a helper that returns nothing has no value"),
    ("v_dot[0] = sometimes(x)", "returns a number elsewhere: write return … here, too"),
    ("v_dot[0] = mixed(x)", "a number in one branch and a tuple of 2 numbers in another: make it the same"),
    ("v_dot[0] = TIMES_TWO(x)", "a kernel function is made with def: write def name(x): return …"),
    ("v_dot[0] = fast(x)", "was made by another compiler (numba?): write a plain function, no decorator"),
    ("v_dot[0] = cached(x)", "a decorator stands above 'cached': write it as a plain function"),
    # names
    ("v_dot[0] = twoo(x, v)", "'twoo' is not defined; nearest: 'two'"),
    ("v_dot[0] = K * x", "'K' is not defined; nearest: 'k'"),
    ("v_dot[0] = math.sine(x)", "math.sine cannot be compiled; nearest: 'math.sin'"),
    ("v_dot[0] = self.k * x", "has no self; ask for 'k' in its arguments"),
    ("if x > 0.0:\n    y = 1.0\nv_dot[0] = y", "'y' may have no value here"),
    # indices and kinds
    ("v_dot = -x", "a result is a view: write v_dot[0] = …"),
    ("v_dot[:] = x", "for i in range(…): v_dot[i] = …"),
    ("v_dot[0] = x[0]", "x is a number here: write x, not x[0]"),
    ("v_dot[0] = gains", "`v_dot[0]`: an element is set to a view: needs a number"),
    ("v_dot[0] = gains * x", "compute with its elements, gains[0]"),
    ("v_dot[0] = gains[x]", "`x`: the place [a number] is not a whole number: write int(…)"),
    ("v_dot[0] = gains[5]", "gains has 3 elements, [5] is outside"),
    ("v_dot[0] = gains[-1]", "gains has 3 elements, a negative index is outside"),
    ("v_dot[0] = table[0][1]", "table[0][1]: write table[0, 1]"),
    ("v_dot[0] = np.linalg.nrom(gains)", "nearest: norm (write norm(…): from cosim.functions import norm)"),
    ("np = 2.0\nv_dot[0] = np.sin(x)", "np.sin: np is a variable here, which hides the module"),
    ("v_dot[0] = gains[::2][0]", "`gains[::2]`: a view is contiguous, and its parts have no step"),
    ("v_dot[0] = table[0, 2]", "table has 2 rows and 2 columns, [0, 2] is outside"),
    ("v_dot[0] = (x, v)[2]", "`(x, v)[2]`: the tuple has 2 items"),
    ("y = (x, v)\ny[0] = 1.0\nv_dot[0] = x", "`y[0]`: the elements of a tuple cannot be changed"),
    ("a, b, c = (x, v)\nv_dot[0] = a", "`(a, b, c)`: 3 names are given the elements of a tuple of 2"),
    ("for i in range(x):\n    pass\nv_dot[0] = x", "`x`: range() does not take a number: write int(…)"),
    ("for i in range(0, 3, 0):\n    pass\nv_dot[0] = x", "the step of range() is 0"),
    ("v_dot[0] = None", "`None`: None is not a number: write math.nan"),
    ("v_dot[0] = x is None", "`x is None`: numbers are compared with =="),
    ("v_dot[0] = x & 1", "`x & 1`: `&` takes whole numbers: write int(…)"),
    ("v_dot[0] = len(x)", "`len(x)`: a number has no length"),
    ("v_dot[0] = max(x)", "`max(x)`: write max(x, y), or max() of a tuple or a view"),
    ("v_dot[0] = 1.0 if gains else 2.0", "`gains`: a view is neither true nor false: compare its elements"),
    ("v_dot[0] = 99999999999999999999 * x", "does not fit into 64 bits: write 1e+20"),
    ("v_dot[0] = 'a' in WORDS", "cannot use text ('a')"),
    ("n[0] = 4\nv_dot[0] = x", "n may only be read"),
    (
        "g = gains[0:2]\ng[0] = 4.0\nv_dot[0] = x",
        "gains may only be read",
    ),
    (
        "g = gains\ng[0] += 4.0\nv_dot[0] = x",
        "gains is changed under another name here, and may only be read",
    ),
    ("r = table[0]\nr[1] = table[1, 1]\nv_dot[0] = x", "table is changed under another name here"),
    ("while True:\n    v_dot[0] = x", "`while True:`: this loop never ends: leave it with break"),
    (
        "while 1:\n    for i in (1, 2):\n        if x > 0.0:\n            break\n    v_dot[0] = x",
        "`while 1:`: this loop never ends",
    ),
    ("v_dot[0] = sin(x)", "'sin' is not defined; write math.sin"),
    ("v_dot[0] = dot(gains, gains)", "'dot' is not defined; from cosim.functions import dot"),
    ("v_dot[0] = clip(x, 1.0)", "clip(x, low, high) is called with others: missing a required argument"),
    ("v_dot[0] = norm(gains, x)", "norm(x) is called with others: too many positional arguments"),
    ("v_dot[0] = x * nanosecond", "'nanosecond' is not defined"),
    ("v_dot[0] = v_next[0]", "'v_next' is not defined; 'v' changes in handlers (cosim.on, cosim.every)"),
    ("v_dot[0] = x\nreturn v", "what a kernel function returns is lost; results are arguments"),
]


def message_for(body: str) -> str:
    """The error for a component with these lines, when the class is made or by the compiler."""
    with pytest.raises(cosim.ContractError) as refused:
        typed_form_of(body)
    return str(refused.value)


def typed_form_of(body: str) -> None:
    """Make the class with these lines, and the typed form of its function."""
    text = HEAD + "".join(f"        {line}\n" for line in body.split("\n"))
    part = run_source(text, dict(NAMES), label="mistake")["Part"]
    kernel = part.kernels["derivatives"]
    kinds = types_of(part.arguments["derivatives"], part.declarations)
    Program().function(kernel.function, kinds)


@pytest.mark.parametrize(
    "body",
    [
        "while True:\n    v_dot[0] = x\n    break",
        "v_dot[0] = x\nwhile True:\n    if x > 0.0:\n        return",
        "v_dot[0] = x\nwhile True:\n    if x > 0.0:\n        raise ValueError('large')",
        "v_dot[0] = x\nwhile True:\n    if x > 0.0:\n        break\n    else:\n        continue",
        "while x < 0.0:\n    v_dot[0] = x\nv_dot[0] = x",
    ],
)
def test_a_loop_that_can_be_left_is_allowed(body: str) -> None:
    typed_form_of(body)


@pytest.mark.parametrize(("body", "sentence"), MISTAKES, ids=[body.split("\n")[0] for body, _ in MISTAKES])
def test_a_mistake_is_answered_with_what_to_write(body: str, sentence: str) -> None:
    message = message_for(body)
    assert sentence in message
    lines = [int(fault.split(":")[1]) for fault in message.split("\n")]
    assert all("mistake" in fault.split(":")[0] for fault in message.split("\n"))
    assert all(0 < line < FIRST_LINE_OF_BODY + 4 for line in lines)
    if not any(name in body for name in ("recursive", "scale", "sometimes", "mixed", "TIMES_TWO")):
        assert min(lines) >= FIRST_LINE_OF_BODY - 3  # the lines of the author, or the head of the function
