"""Tangents in lanes: each lane has the bytes that its direction has alone."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from how_many import many
from language_tools import compiled, compiled_together
from programs_run import SIGNATURE, arguments
from tangents_run import programs

from cosim_compiler.derivatives.tangents import NoTangentError, tangent_function
from cosim_compiler.errors import ContractError, LanesDisagreeError
from cosim_compiler.language.types import COUNT
from cosim_compiler.sources.run_source import run_source
from cosim_compiler.tables import in_lanes

HEAD = "import math\nfrom cosim_compiler.functions import *\nfrom cosim_compiler.tables import zeros\n"
MATHEMATICS = [
    "abs(x) * y",
    "math.copysign(x, y)",
    "math.sqrt(x * x + y * y)",
    "math.hypot(x, y) / (1.0 + x * x)",
    "math.atan2(x, y)",
    "min(x, y) - max(x, 0.5)",
    "math.pow(x * x + 1.0, y) + x // 1.0 + x % 0.75",
    "math.sin(x) * math.exp(y) - math.log(2.0 + math.cos(x * y))",
    "(x if x > y else y) * (1.0 if y < 0.0 else x)",
    "x / y",
]


def made(body: str, signature: str) -> tuple[Any, Any]:
    """A tangent along one direction and the one in lanes, compiled."""
    function = run_source(f"{HEAD}def f{body}")["f"]
    one, lanes = (
        tangent_function(function, signature, in_lanes=many_at_once) for many_at_once in (False, True)
    )
    return compiled(*one), compiled(*lanes)


def same_bytes(x: Any, y: Any) -> bool:
    """Whether numbers are the same to the last bit; one NaN is as another."""
    x, y = np.ascontiguousarray(x), np.ascontiguousarray(y)
    return bool(((x.view(np.int64) == y.view(np.int64)) | (np.isnan(x) & np.isnan(y))).all())


@pytest.fixture(scope="module")
def mathematics() -> dict[str, tuple[Any, Any]]:
    """The tangents of all expressions along one direction and in lanes, each in one piece."""
    functions = [run_source(f"{HEAD}def f(x, y, out):\n    out[0] = 1.0 * ({t})\n")["f"] for t in MATHEMATICS]
    one = compiled_together([tangent_function(f, "ffF>v")[0] for f in functions], "ffFffF>v")
    lanes = compiled_together([tangent_function(f, "ffF>v", in_lanes=True)[0] for f in functions], "ffFFFF>v")
    return dict(zip(MATHEMATICS, zip(one, lanes, strict=True), strict=True))


NUMBERS = [(0.3, -0.7), (-2.0, 1.5), (1.0, 1.0), (0.0, 2.0), (0.0, 0.0), (-0.0, -3.0), (1e150, 1e-150)]
DIRECTIONS = np.array([[1.0, -0.5, 0.0, 3e200], [0.25, 0.0, 0.0, -1.0]])


@pytest.mark.parametrize("text", MATHEMATICS)
@pytest.mark.parametrize("numbers", NUMBERS)
def test_functions_and_operators(mathematics, text: str, numbers: tuple[float, float]) -> None:
    one, lanes = mathematics[text]
    x, y = map(np.float64, numbers)
    out, out_dots = np.zeros(1), np.zeros(COUNT)
    lanes(x, y, out, *(direction.copy() for direction in DIRECTIONS), out_dots)
    for lane in range(COUNT):
        value, dot = np.zeros(1), np.zeros(1)
        one(x, y, value, *DIRECTIONS[:, lane], dot)
        assert value.tobytes() == out.tobytes()
        assert same_bytes(dot, out_dots[lane : lane + 1])


def in_each_lane(kernel: Any, seed: int) -> bool:
    """Whether a program that computes in lanes was compared; none where they disagree or it raises."""
    source = "def wrapped(x, t, n, m, a, k, w, out):\n    out[0] = kernel(x, t, n, m, a, k, w)\n"
    wrapped = run_source(source, {"kernel": kernel, "__name__": "wrapped"}, f"wrapped {seed}")["wrapped"]
    signature = SIGNATURE.replace(">f", "F>v")
    one = compiled(*tangent_function(wrapped, signature))
    try:
        lanes = compiled(*tangent_function(wrapped, signature, in_lanes=True))
    except NoTangentError:
        return False
    draw = random.Random(seed)
    given = arguments(draw)
    rows = given[4].size + 2
    dots = np.array([draw.uniform(-1.0, 1.0) for _ in range(COUNT * rows)]).reshape(rows, COUNT)
    dots[draw.randrange(rows), draw.randrange(COUNT)] = 0.0
    values, a_dots = [*(value.copy() for value in given), np.zeros(1)], dots[2:].ravel().copy()
    out_dots = np.zeros(COUNT)
    try:
        lanes(*values, dots[0].copy(), dots[1].copy(), a_dots, out_dots)
    except (LanesDisagreeError, ValueError, ArithmeticError):
        return False
    for lane in range(COUNT):
        copies, a_dot, out_dot = [*(v.copy() for v in given), np.zeros(1)], dots[2:, lane].copy(), np.zeros(1)
        one(*copies, dots[0, lane], dots[1, lane], a_dot, out_dot)
        assert same_bytes(copies[-1], values[-1]), f"program {seed}"
        assert same_bytes(copies[4], values[4]), f"program {seed}"
        assert same_bytes(a_dot, a_dots.reshape(-1, COUNT)[:, lane]), f"program {seed}, lane {lane}"
        assert same_bytes(out_dot, out_dots[lane : lane + 1]), f"program {seed}, lane {lane}"
    return True


def test_random_programs_have_in_each_lane_what_they_have_alone() -> None:
    compared = [in_each_lane(kernel, seed) for seed, kernel in programs(range(many(15))).items()]
    assert sum(compared) > len(compared) // 5


def test_arrays_of_their_own_sections_tables_and_helpers() -> None:
    body = (
        "(x, v, out):\n    w = zeros(4)\n    for i in range(len(v)):\n        w[i] = math.sin(v[i]) * x\n"
        "    part = out[1:3]\n    part[0] = w[0] * w[-1]\n    part[1] = dot((w[0], w[1]), (x, v[2]))\n"
        "    out[0] += w[2]\n"
    )
    one, lanes = made(body, "fFF>v")
    draw = np.random.default_rng(3)
    v, x_dots, v_dots = draw.random(4), draw.normal(size=COUNT), draw.normal(size=(4, COUNT))
    out_dots = draw.normal(size=(3, COUNT))
    first_dots = out_dots.copy()
    lanes(0.7, v, np.ones(3), x_dots, v_dots.ravel(), out_dots.reshape(-1))
    for lane in range(COUNT):
        dot = first_dots[:, lane].copy()
        one(0.7, v, np.ones(3), x_dots[lane], v_dots[:, lane].copy(), dot)
        assert dot.tobytes() == out_dots[:, lane].tobytes()


@pytest.mark.parametrize("x", [0.0, 1.0])
def test_a_branch_that_lanes_leave_together(x: float) -> None:
    one, lanes = made("(x, out):\n    out[0] = x * 3.0\n    if x == 0.0:\n        out[0] = 5.0\n", "fF>v")
    for dots in (np.zeros(COUNT), np.arange(1.0, 1.0 + COUNT)):
        out, out_dots = np.zeros(1), np.zeros(COUNT)
        lanes(x, out, dots.copy(), out_dots)
        for lane in range(COUNT):
            value, dot = np.zeros(1), np.zeros(1)
            one(x, value, dots[lane], dot)
            assert (value[0], dot[0]) == (out[0], out_dots[lane])


def test_lanes_that_disagree_about_a_branch_say_so() -> None:
    _, lanes = made("(x, out):\n    out[0] = x * 3.0\n    if x == 0.0:\n        out[0] = 5.0\n", "fF>v")
    with pytest.raises(LanesDisagreeError):
        lanes(0.0, np.zeros(1), np.array([0.0, 1.0, 0.0, 0.0]), np.zeros(COUNT))
    lanes(0.5, np.zeros(1), np.array([0.0, 1.0, 0.0, 0.0]), np.zeros(COUNT))  # no matter which way


@pytest.mark.parametrize(
    ("body", "signature"),
    [
        ("(x):\n    return x * x\n", "f>f"),  # a number for each lane is no result
        ("(m, out):\n    out[0] = m[0, 0]\n", "MF>v"),
    ],
)
def test_what_has_no_tangent_in_lanes_is_refused(body: str, signature: str) -> None:
    with pytest.raises((NoTangentError, ContractError)):
        made(body, signature)


def test_plain_python_has_no_lanes() -> None:
    with pytest.raises(TypeError, match="compiled"):
        in_lanes(np.zeros(COUNT))
