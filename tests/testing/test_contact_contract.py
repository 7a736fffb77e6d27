"""Each check of the kit for contacts finds its own deliberately wrong toy, and nothing else."""

import gated_contacts as gated
import toy_contacts as toys
from failing_checks import SLOW_CHECKS, checks, fails
from toys_of_a_kit import GatedToysOfAKit

from cosim_mechanics import SphereContact
from cosim_mechanics.testing import ContactContract, ForceElementContract


class TestToys(GatedToysOfAKit):
    right = toys.RightCase
    wrong = {
        "test_normal_is_a_unit_vector": toys.SlantingCase,
        "test_depth_changes_at_its_rate": toys.HastyCase,
        "test_surfaces_only_push": toys.StickyCase,
    }
    in_variables = gated.CASES
    of_declarations = set()
    slow = SLOW_CHECKS

    def own_checks(self):
        return sorted(set(checks(ContactContract)) - set(checks(ForceElementContract)))


def test_an_example_that_never_touches_fails():
    assert fails(toys.FarCase, "test_surfaces_only_push")


def test_contacts_name_their_kit():
    assert SphereContact.contract_kit.endswith(":ContactContract")
