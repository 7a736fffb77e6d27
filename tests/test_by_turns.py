"""A short run has each value of parameters that are tried by turns, and few cases of other tests."""

from itertools import product

import pytest
from by_turns import not_among_few, off_the_diagonal


@pytest.mark.parametrize(
    ("sizes", "kept"),
    [
        ((3,), ["0", "1", "2"]),
        ((2, 2), ["00", "11"]),
        ((3, 2), ["00", "11", "20"]),
        ((2, 3), ["00", "02", "11"]),
        ((2, 4, 3), ["000", "022", "111", "130"]),
        ((1, 1), ["00"]),
    ],
)
def test_each_value_comes_as_often_as_the_longest_list_wants(sizes: tuple[int, ...], kept: list[str]) -> None:
    every = [dict(zip("abc", found, strict=False)) for found in product(*map(range, sizes))]
    left_out = off_the_diagonal(every)
    assert ["".join(map(str, c.values())) for c, out in zip(every, left_out, strict=True) if not out] == kept


def test_values_are_counted_among_those_that_there_are() -> None:
    assert off_the_diagonal([]) == []
    assert off_the_diagonal([{"a": 4, "b": 7}]) == [False]
    assert off_the_diagonal([{"a": 1, "b": 3}, {"a": 1, "b": 5}, {"a": 6, "b": 5}]) == [False, True, False]


@pytest.mark.by_turns
@pytest.mark.parametrize("letter", ["a", pytest.param("b", marks=pytest.mark.thorough), "c"])
@pytest.mark.parametrize(("low", "high"), [(1, 2), (1, 3), (2, 2)])
def test_marked(letter: str, low: int, high: int) -> None:
    assert low <= high and letter in "abc"


def test_what_a_run_has_of_a_marked_test(request: pytest.FixtureRequest) -> None:
    found = {item.name for item in request.session.items if item.name.startswith("test_marked[")}
    if request.config.getoption("markexpr") == "not thorough":
        assert found == {"test_marked[1-2-a]", "test_marked[1-3-c]", "test_marked[2-2-a]"}
    else:
        assert len(found) == 9


@pytest.mark.parametrize(
    ("length", "count", "kept"),
    [(5, 2, "04"), (5, 3, "024"), (4, 1, "0"), (2, 2, "01"), (1, 3, "0"), (0, 2, "")],
)
def test_few_are_from_the_first_to_the_last(length: int, count: int, kept: str) -> None:
    assert "".join(str(n) for n, out in enumerate(not_among_few(length, count)) if not out) == kept


@pytest.mark.few(2)
@pytest.mark.parametrize("number", [1, 2, 3, pytest.param(4, marks=pytest.mark.thorough)])
def test_marked_as_few(number: int) -> None:
    assert number < 5


def test_what_a_run_has_of_a_test_that_is_marked_as_few(request: pytest.FixtureRequest) -> None:
    found = {item.name for item in request.session.items if item.name.startswith("test_marked_as_few[")}
    if request.config.getoption("markexpr") == "not thorough":
        assert found == {"test_marked_as_few[1]", "test_marked_as_few[3]"}
    else:
        assert len(found) == 4
