"""Marks of tests that a short run leaves out, and of tests that need optional packages."""

from types import SimpleNamespace
from typing import Any

import pytest
from long_checks import is_thorough
from optional_packages import needs_packages


def function_with(*names: str) -> Any:
    """A test function with these marks."""
    return SimpleNamespace(pytestmark=[getattr(pytest.mark, name).mark for name in names])


def collector_with(*names: str) -> Any:
    """A module or class with these marks."""
    return SimpleNamespace(iter_markers=lambda: iter(function_with(*names).pytestmark))


@pytest.mark.parametrize(
    ("marks", "marks_of_collector", "expected"),
    [
        ((), (), False),
        (("few",), ("by_turns",), False),
        (("thorough",), (), True),
        (("few", "thorough"), (), True),
        ((), ("skip", "thorough"), True),
    ],
)
def test_a_function_is_thorough_by_its_own_mark_or_that_of_its_module(
    marks: tuple[str, ...], marks_of_collector: tuple[str, ...], expected: bool
) -> None:
    assert is_thorough(collector_with(*marks_of_collector), function_with(*marks)) is expected


def test_an_object_without_marks_is_thorough_if_its_module_is() -> None:
    assert not is_thorough(collector_with(), object())
    assert is_thorough(collector_with("thorough"), object())


def test_the_reason_of_a_skip_names_the_missing_packages() -> None:
    assert needs_packages().args == (False,) == needs_packages("json").args
    mark = needs_packages("json", "no_such_package", "nor_this")
    assert mark.args == (True,) and mark.kwargs == {"reason": "not installed: no_such_package, nor_this"}
