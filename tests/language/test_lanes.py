"""Tangents in lanes: each lane has the same bytes as its direction alone."""

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
from cosim_compiler.language.types import LANE_COUNTS
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


EDGE = "(x, out):\n    out[0] = x * 3.0\n    if x == 0.0:\n        out[0] = 5.0\n"
by_lane_count = pytest.mark.parametrize("count", LANE_COUNTS)


def compiled_tangents(body: str, signature: str, count: int) -> tuple[Any, Any]:
    """The tangent along one direction and the tangent in lanes of a function with this body, compiled."""
    function = run_source(f"{HEAD}def f{body}")["f"]
    one, lanes = (tangent_function(function, signature, lanes=lanes) for lanes in (0, count))
    return compiled(*one), compiled(*lanes)


def same_bytes(x: Any, y: Any) -> bool:
    """Whether numbers are equal to the last bit; all NaN are equal."""
    x, y = np.ascontiguousarray(x), np.ascontiguousarray(y)
    return bool(((x.view(np.int64) == y.view(np.int64)) | (np.isnan(x) & np.isnan(y))).all())


@pytest.fixture(scope="module")
def mathematics() -> dict[tuple[str, int], tuple[Any, Any]]:
    """By expression and number of lanes: the tangents along one direction and in lanes."""
    functions = [run_source(f"{HEAD}def f(x, y, out):\n    out[0] = 1.0 * ({t})\n")["f"] for t in MATHEMATICS]
    one = compiled_together([tangent_function(f, "ffF>v")[0] for f in functions], "ffFffF>v")
    pairs: dict[tuple[str, int], tuple[Any, Any]] = {}
    for count in LANE_COUNTS:
        tangents = [tangent_function(f, "ffF>v", lanes=count)[0] for f in functions]
        lanes = compiled_together(tangents, "ffFFFF>v")
        pairs |= {(MATHEMATICS[i], count): (one[i], lanes[i]) for i in range(len(functions))}
    return pairs


NUMBERS = [(0.3, -0.7), (-2.0, 1.5), (1.0, 1.0), (0.0, 2.0), (0.0, 0.0), (-0.0, -3.0), (1e150, 1e-150)]
DIRECTIONS = np.array([[1.0, -0.5, 0.0, 3e200, 0, -7.0, 1e-9, 2.0], [0.25, 0.0, 0.0, -1.0, 5.0, 7.0, 0, 1e9]])


@by_lane_count
@pytest.mark.parametrize("text", MATHEMATICS)
@pytest.mark.parametrize("numbers", NUMBERS)
def test_a_function_or_operator_in_lanes(
    mathematics: Any, text: str, numbers: tuple[float, float], count: int
) -> None:
    one, lanes = mathematics[text, count]
    x, y = map(np.float64, numbers)
    out, out_dots = np.zeros(1), np.zeros(count)
    lanes(x, y, out, *(direction[:count].copy() for direction in DIRECTIONS), out_dots)
    for lane in range(count):
        value, dot = np.zeros(1), np.zeros(1)
        one(x, y, value, *DIRECTIONS[:, lane], dot)
        assert value.tobytes() == out.tobytes()
        assert same_bytes(dot, out_dots[lane : lane + 1])


def is_compared(kernel: Any, seed: int, count: int) -> bool:
    """Compare each lane of a random program; False if it has no lanes, its lanes disagree or it raises."""
    source = "def wrapped(x, t, n, m, a, k, w, out):\n    out[0] = kernel(x, t, n, m, a, k, w)\n"
    wrapped = run_source(source, {"kernel": kernel, "__name__": "wrapped"}, f"wrapped {seed}")["wrapped"]
    signature = SIGNATURE.replace(">f", "F>v")
    one = compiled(*tangent_function(wrapped, signature))
    try:
        lanes = compiled(*tangent_function(wrapped, signature, lanes=count))
    except NoTangentError:
        return False
    draw = random.Random(seed)
    values_alone = arguments(draw)
    rows = values_alone[4].size + 2
    dots = np.array([draw.uniform(-1.0, 1.0) for _ in range(count * rows)]).reshape(rows, count)
    dots[draw.randrange(rows), draw.randrange(count)] = 0.0
    values, a_dots = [*(value.copy() for value in values_alone), np.zeros(1)], dots[2:].ravel().copy()
    out_dots = np.zeros(count)
    try:
        lanes(*values, dots[0].copy(), dots[1].copy(), a_dots, out_dots)
    except (LanesDisagreeError, ValueError, ArithmeticError):
        return False
    for lane in range(count):
        copies = [*(value.copy() for value in values_alone), np.zeros(1)]
        a_dot, out_dot = dots[2:, lane].copy(), np.zeros(1)
        one(*copies, dots[0, lane], dots[1, lane], a_dot, out_dot)
        assert same_bytes(copies[-1], values[-1]), f"program {seed}"
        assert same_bytes(copies[4], values[4]), f"program {seed}"
        assert same_bytes(a_dot, a_dots.reshape(-1, count)[:, lane]), f"program {seed}, lane {lane}"
        assert same_bytes(out_dot, out_dots[lane : lane + 1]), f"program {seed}, lane {lane}"
    return True


@by_lane_count
def test_random_programs_in_lanes(count: int) -> None:
    compared = [is_compared(kernel, seed, count) for seed, kernel in programs(range(many(15))).items()]
    assert sum(compared) > len(compared) // 5


@by_lane_count
def test_own_arrays_slices_and_functions_of_vectors_in_lanes(count: int) -> None:
    body = (
        "(x, v, out):\n    w = zeros(4)\n    for i in range(len(v)):\n        w[i] = math.sin(v[i]) * x\n"
        "    part = out[1:3]\n    part[0] = w[0] * w[-1]\n    part[1] = dot((w[0], w[1]), (x, v[2]))\n"
        "    out[0] += w[2]\n"
    )
    one, lanes = compiled_tangents(body, "fFF>v", count)
    draw = np.random.default_rng(3)
    v, x_dots, v_dots = draw.random(4), draw.normal(size=count), draw.normal(size=(4, count))
    out_dots = draw.normal(size=(3, count))
    first_dots = out_dots.copy()
    lanes(0.7, v, np.ones(3), x_dots, v_dots.ravel(), out_dots.reshape(-1))
    for lane in range(count):
        dot = first_dots[:, lane].copy()
        one(0.7, v, np.ones(3), x_dots[lane], v_dots[:, lane].copy(), dot)
        assert dot.tobytes() == out_dots[:, lane].tobytes()


@by_lane_count
@pytest.mark.parametrize("x", [0.0, 1.0])
def test_a_comparison_that_is_the_same_in_all_lanes(x: float, count: int) -> None:
    one, lanes = compiled_tangents(EDGE, "fF>v", count)
    for dots in (np.zeros(count), np.arange(1.0, 1.0 + count)):
        out, out_dots = np.zeros(1), np.zeros(count)
        lanes(x, out, dots.copy(), out_dots)
        for lane in range(count):
            value, dot = np.zeros(1), np.zeros(1)
            one(x, value, dots[lane], dot)
            assert (value[0], dot[0]) == (out[0], out_dots[lane])


@by_lane_count
def test_a_comparison_that_differs_between_lanes_is_an_error(count: int) -> None:
    _, lanes = compiled_tangents(EDGE, "fF>v", count)
    with pytest.raises(LanesDisagreeError):
        lanes(0.0, np.zeros(1), np.eye(count)[1], np.zeros(count))
    lanes(0.5, np.zeros(1), np.eye(count)[1], np.zeros(count))  # away from the edge all lanes agree


@pytest.mark.parametrize(
    ("body", "signature"),
    [
        ("(x):\n    return x * x\n", "f>f"),  # a result cannot be several numbers
        ("(m, out):\n    out[0] = m[0, 0]\n", "MF>v"),
    ],
)
def test_a_function_without_a_tangent_in_lanes_is_refused(body: str, signature: str) -> None:
    with pytest.raises((NoTangentError, ContractError)):
        compiled_tangents(body, signature, 4)


@pytest.mark.parametrize("count", [1, 3, 5])
def test_a_number_of_lanes_that_no_processor_has_is_refused(count: int) -> None:
    with pytest.raises((NoTangentError, ContractError), match="there are 2 or 4 or 8 lanes"):
        compiled_tangents("(x, out):\n    out[0] = x * 3.0\n", "fF>v", count)


def test_plain_python_has_no_lanes() -> None:
    with pytest.raises(TypeError, match="compiled"):
        in_lanes(np.zeros(4), 4)
