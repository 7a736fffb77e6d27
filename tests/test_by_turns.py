"""The cases of tests marked ``by_turns`` and ``few`` that a short run leaves out."""

from itertools import product

import pytest
from by_turns import not_among_few, off_the_diagonal


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ((3,), ["0", "1", "2"]),
        ((2, 2), ["00", "11"]),
        ((3, 2), ["00", "11", "20"]),
        ((2, 3), ["00", "02", "11"]),
        ((2, 4, 3), ["000", "022", "111", "130"]),
        ((1, 1), ["00"]),
    ],
)
def test_a_short_run_has_as_many_cases_as_the_longest_list_has_values(
    sizes: tuple[int, ...], expected: list[str]
) -> None:
    combinations = [dict(zip("abc", values, strict=False)) for values in product(*map(range, sizes))]
    left_out = off_the_diagonal(combinations)
    cases = [c for c, is_left_out in zip(combinations, left_out, strict=True) if not is_left_out]
    assert ["".join(map(str, case.values())) for case in cases] == expected


def test_values_may_be_any_and_combinations_may_be_missing() -> None:
    assert off_the_diagonal([]) == []
    assert off_the_diagonal([{"a": 4, "b": 7}]) == [False]
    assert off_the_diagonal([{"a": 1, "b": 3}, {"a": 1, "b": 5}, {"a": 6, "b": 5}]) == [False, True, False]


@pytest.mark.by_turns
@pytest.mark.parametrize("letter", ["a", pytest.param("b", marks=pytest.mark.thorough), "c"])
@pytest.mark.parametrize(("low", "high"), [(1, 2), (1, 3), (2, 2)])
def test_marked_by_turns(letter: str, low: int, high: int) -> None:
    assert low <= high and letter in "abc"


def test_a_short_run_has_three_of_nine_cases_marked_by_turns(request: pytest.FixtureRequest) -> None:
    names = {item.name for item in request.session.items if item.name.startswith("test_marked_by_turns[")}
    if request.config.getoption("markexpr") == "not thorough":
        assert names == {
            "test_marked_by_turns[1-2-a]",
            "test_marked_by_turns[1-3-c]",
            "test_marked_by_turns[2-2-a]",
        }
    else:
        assert len(names) == 9


@pytest.mark.parametrize(
    ("length", "count", "expected"),
    [(5, 2, "04"), (5, 3, "024"), (4, 1, "0"), (2, 2, "01"), (1, 3, "0"), (0, 2, "")],
)
def test_few_cases_are_evenly_spaced_from_the_first_to_the_last(
    length: int, count: int, expected: str
) -> None:
    assert "".join(str(n) for n, out in enumerate(not_among_few(length, count)) if not out) == expected


@pytest.mark.few(2)
@pytest.mark.parametrize("number", [1, 2, 3, pytest.param(4, marks=pytest.mark.thorough)])
def test_marked_as_few(number: int) -> None:
    assert number < 5


def test_a_short_run_has_two_of_four_cases_marked_as_few(request: pytest.FixtureRequest) -> None:
    names = {item.name for item in request.session.items if item.name.startswith("test_marked_as_few[")}
    if request.config.getoption("markexpr") == "not thorough":
        assert names == {"test_marked_as_few[1]", "test_marked_as_few[3]"}
    else:
        assert len(names) == 4
