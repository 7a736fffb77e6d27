"""Values of parameters as floats, in each form in which they may be given: equal numbers, equal refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest

import cosim


class Box(cosim.Component):
    """A box with numbers."""

    size = cosim.parameter(shape=3, unit="m", minimum=0.0, maximum=2.0, default=(0, 0, 0))
    one = cosim.parameter(shape=1, default=[1.0])
    x = cosim.auxiliary_state(shape=3)

    @cosim.kernel
    def derivatives(size, one, x_dot):
        for i in range(3):
            x_dot[i] = size[i] * one[0]


@pytest.mark.parametrize("numbers", [(0, 1.5, 2), (0.0, -0.0, 2.0), (5e-324, 1e-300, 1)])
def test_all_forms_give_the_same_bits(numbers: tuple[float, ...]) -> None:
    expected = Box(size=np.array(numbers, dtype=float)).values.numbers["size"]
    for form in (numbers, list(numbers), tuple(map(np.float64, numbers)), [f"{x!r} m" for x in numbers]):
        values = Box(size=form).values.numbers["size"]
        assert values.dtype == np.float64
        assert values.tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ((0.0, 2.0, math.nextafter(2.0, 3.0)), "needs at most 2"),
        ((0.0, -5e-324, 2.0), "needs at least 0"),
        ((0.0, math.nan, 1.0), "needs a finite number"),
        ((0.0, math.inf, 1.0), "needs a finite number"),
        ((0.0, 10**400, 1.0), "size: int too large"),
        ((0.0, True, 1.0), "True"),
        ((0.0, 1.0), "has shape"),
        ((), "has shape"),
        ((0.0, 1.0, 1.0, 1.0), "has shape"),
        (((0.0,), 1.0, 1.0), "needs"),
    ],
)
def test_a_tuple_and_a_list_are_refused_alike(numbers: tuple[float, ...], message: str) -> None:
    for form in (numbers, list(numbers)):
        with pytest.raises(cosim.ModelError, match=message):
            Box(size=form)


def test_one_number_for_a_vector() -> None:
    """It is the element of a vector of one, and the start of all elements of a state."""
    assert Box(one=3.0).values.numbers["one"].tolist() == [3.0]
    assert Box(one=(3,)).values.numbers["one"].tolist() == [3.0]
    assert Box(x=0.5).values.numbers["x"].tolist() == [0.5, 0.5, 0.5]
    assert Box(x=[0.5, 1, 2.0]).values.numbers["x"].tolist() == [0.5, 1.0, 2.0]
    with pytest.raises(cosim.ModelError, match="has shape"):
        Box(x=(0.5,))
