"""Each check of the kit for contacts finds its own deliberately wrong toy, and nothing else."""

import pytest
import toy_contacts as toys
from failing_checks import ELSEWHERE, checks, failing_checks, fails, fails_exactly

from cosim_mechanics import SphereContact
from cosim_mechanics.testing import ContactContract, ForceElementContract

WRONG = {
    "test_normal_is_a_unit_vector": toys.SlantingCase,
    "test_depth_changes_at_its_rate": toys.HastyCase,
    "test_surfaces_only_push": toys.StickyCase,
}


def test_each_check_has_a_toy():
    assert sorted(WRONG) == sorted(set(checks(ContactContract)) - set(checks(ForceElementContract)))


@pytest.mark.parametrize("check", WRONG)
def test_wrong_toy_fails_its_check(check):
    assert fails(WRONG[check], check)


@pytest.mark.thorough
@pytest.mark.parametrize("check", WRONG)
def test_wrong_toy_fails_exactly_its_check(check):
    fails_exactly(WRONG[check], check)


def test_right_contact_passes():
    assert failing_checks(toys.RightCase, but=ELSEWHERE) == []


def test_a_contact_that_never_touches_is_no_example():
    assert fails(toys.FarCase, "test_surfaces_only_push")


def test_contacts_say_their_kit():
    assert SphereContact.contract_kit.endswith(":ContactContract")
