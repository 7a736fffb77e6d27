"""Which tests workers of a short run leave out before they are made, and which need optional packages."""

from types import SimpleNamespace
from typing import Any

import pytest
from long_checks import is_thorough
from optional_packages import needs_packages


def marked(*names: str) -> Any:
    return SimpleNamespace(pytestmark=[getattr(pytest.mark, name).mark for name in names])


def within(*names: str) -> Any:
    return SimpleNamespace(iter_markers=lambda: iter(marked(*names).pytestmark))


@pytest.mark.parametrize(
    ("own", "around", "expected"),
    [
        ((), (), False),
        (("few",), ("by_turns",), False),
        (("thorough",), (), True),
        (("few", "thorough"), (), True),
        ((), ("skip", "thorough"), True),
    ],
)
def test_own_marks_and_those_around_count(
    own: tuple[str, ...], around: tuple[str, ...], expected: bool
) -> None:
    assert is_thorough(within(*around), marked(*own)) is expected


def test_what_has_no_marks_counts_as_what_is_around_it() -> None:
    assert not is_thorough(within(), object())
    assert is_thorough(within("thorough"), object())


def test_what_is_missing_is_named() -> None:
    assert needs_packages().args == (False,) == needs_packages("json").args
    mark = needs_packages("json", "no_such_package", "nor_this")
    assert mark.args == (True,) and mark.kwargs == {"reason": "not installed: no_such_package, nor_this"}
