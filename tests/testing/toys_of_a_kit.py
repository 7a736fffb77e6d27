"""The tests of a contract kit: each of its checks finds its own deliberately wrong toy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import pytest
from failing_checks import checks, failing_checks, fails, fails_exactly

Case = type[Any]
KINDS = ("InInput", "InState", "InDiscrete", "InParameter")


class ToysOfAKit:
    """Base of the tests of a kit.

    Attributes
    ----------
    right : type
        A case that passes all checks.
    wrong : mapping of str to type
        For each check a case that fails it.
    fails_others : set of str
        Checks whose wrong case fails others as well.
    slow : tuple of str
        Checks that the right case is not run through here.
    """

    right: ClassVar[Case]
    wrong: ClassVar[Mapping[str, Case]]
    fails_others: ClassVar[set[str]] = set()
    slow: ClassVar[tuple[str, ...]] = ()

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Each check by its wrong case."""
        name = metafunc.function.__name__
        if name == "test_wrong_toy_fails_its_check":
            metafunc.parametrize("check", self.wrong)
        elif name == "test_wrong_toy_fails_exactly_its_check":
            metafunc.parametrize("check", [check for check in self.wrong if check not in self.fails_others])

    def own_checks(self) -> list[str]:
        """The checks that need a wrong case."""
        return checks(self.right)

    def test_each_check_has_a_toy(self) -> None:
        assert sorted(self.wrong) == self.own_checks()

    def test_wrong_toy_fails_its_check(self, check: str) -> None:
        assert fails(self.wrong[check], check)

    @pytest.mark.thorough
    def test_wrong_toy_fails_exactly_its_check(self, check: str) -> None:
        fails_exactly(self.wrong[check], check)

    def test_the_right_toy_passes(self) -> None:
        assert failing_checks(self.right, but=self.slow) == []


class GatedToysOfAKit(ToysOfAKit):
    """With faults that show for some values of a variable alone.

    Attributes
    ----------
    in_variables : mapping of str to mapping of str to type
        For each check of values, and each kind of variable, a case that fails it.
    in_equations : mapping of str to type
        For each check of an equation a case whose fault shows for some of its parameters alone.
    of_declarations : set of str
        Checks for which no variable makes a difference.
    out_of_reach : set of (str, str)
        Checks and kinds of variables of which a kit sees no fault.
    """

    in_variables: ClassVar[Mapping[str, Mapping[str, Case]]]
    in_equations: ClassVar[Mapping[str, Case]] = {}
    of_declarations: ClassVar[set[str]]
    out_of_reach: ClassVar[set[tuple[str, str]]] = set()

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        super().pytest_generate_tests(metafunc)
        if metafunc.function.__name__ == "test_a_fault_in_a_variable_of_its_own_is_found":
            metafunc.parametrize("kind", KINDS)
            metafunc.parametrize("check", self.in_variables)

    def test_each_check_of_values_has_a_toy_in_each_kind_of_variable(self) -> None:
        assert sorted({*self.in_variables, *self.in_equations, *self.of_declarations}) == self.own_checks()

    @pytest.mark.by_turns
    def test_a_fault_in_a_variable_of_its_own_is_found(self, check: str, kind: str) -> None:
        if (check, kind) in self.out_of_reach:
            pytest.skip("parameters are those that are given: with others it may be out of reach")
        assert fails(self.in_variables[check][kind], check)
