"""The common checks of all kits for parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import cosim
from cosim.testing.described import check_bounds
from cosim.testing.other_mode import results_in_other_mode


class PartContract:
    """Base of kits for kinds of components.

    Attributes
    ----------
    make : callable
        Makes a part, without its attachments.
    beside : str
        Id of a built-in part of the kind, whose time a report shows beside that of the part.
    """

    make: ClassVar[Callable[..., Any]]
    beside: ClassVar[str] = ""

    @classmethod
    def example(cls) -> tuple[cosim.State, str]:
        """A State of a system with the part, and the part's name in it."""
        raise NotImplementedError

    @classmethod
    def results(cls) -> list[str]:
        """The results of the part, to the last bit: texts ``name: value``."""
        raise NotImplementedError

    def test_refuses_parameters_out_of_bounds(self) -> None:
        """Bounds that are declared are kept."""
        check_bounds(self.make())

    def test_compiled_is_plain_python(self) -> None:
        """Results with and without compilation have the same bytes."""
        in_this_mode, in_other_mode = self.results(), results_in_other_mode(type(self), "results")
        assert in_this_mode == in_other_mode, (
            f"{different_names(in_this_mode, in_other_mode)} differ between compiled and plain Python"
        )


def different_names(first: list[str], second: list[str]) -> str:
    """Names of the results that differ."""
    names = [a.partition(":")[0] for a, b in zip(first, second, strict=False) if a != b]
    return ", ".join(dict.fromkeys(names)) or "the numbers of results"
