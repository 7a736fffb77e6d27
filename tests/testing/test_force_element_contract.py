"""Each check of the kit for force elements finds its own deliberately wrong toy, and nothing else."""

import subprocess
import sys

import gated_elements as gated
import pytest
import toy_elements as toys
from failing_checks import SLOW_CHECKS, failing_checks
from toys_of_a_kit import GatedToysOfAKit


class TestToys(GatedToysOfAKit):
    right = toys.RightCase
    wrong = {
        "test_docstring_has_its_sections": toys.SilentCase,
        "test_refuses_parameters_out_of_bounds": toys.ClampingCase,
        "test_forces_are_finite": toys.OnlyInMotionCase,
        "test_has_an_effect": toys.IdleCase,
        "test_forces_follow_from_the_state_alone": toys.WearingCase,
        "test_two_elements_are_independent": toys.SharingCase,
        "test_internal": toys.OneSidedCase,
        "test_power_is_the_loss_of_energy": toys.MiscountingCase,
        "test_compiled_is_plain_python": toys.OverflowingCase,
        "test_restored_state_gives_the_same_forces": toys.RecognizingCase,
        "test_stages_are_honoured": toys.LateCase,
        "test_frame_indifferent": toys.SidewaysCase,
        "test_passive": toys.DrivingCase,
        "test_zero_at_rest_pose": toys.TenseCase,
        "test_symmetric": toys.LopsidedCase,
        "test_runs_in_an_fmu": toys.ShowingCase,
    }
    in_variables = gated.CASES
    of_declarations = {
        "test_docstring_has_its_sections",
        "test_refuses_parameters_out_of_bounds",
        "test_has_an_effect",
        "test_stages_are_honoured",
    }


OTHER_RIGHT_CASES = [toys.RightPlainCase, toys.RightStoringCase, toys.MaxwellCase, toys.BufferCase]


@pytest.mark.thorough
@pytest.mark.parametrize("case", OTHER_RIGHT_CASES)
def test_another_right_element_passes_all_checks(case):
    assert failing_checks(case) == []


@pytest.mark.parametrize("case", OTHER_RIGHT_CASES)
def test_another_right_element_passes_quick_checks(case):
    assert failing_checks(case, but=SLOW_CHECKS) == []


def test_a_wrong_energy_on_one_side_of_a_kink_is_found():
    assert failing_checks(toys.LeapingCase, but=SLOW_CHECKS) == [
        "test_passive",
        "test_power_is_the_loss_of_energy",
    ]


THIRD_PARTY = '''
import cosim
import cosim_mechanics
from cosim_mechanics.testing import ForceElementContract


class Pull(cosim_mechanics.ForceElement):
    """Law: f = k (p2 - p1) on body 1.

    Frames and signs
    ----------------
    In Ground.

    Limits
    ------
    None.

    Parameters
    ----------
    stiffness : float, N/m, >= 0

    Examples
    --------
    >>> Pull(stiffness=3.0).stiffness
    3.0
    """

    stiffness = cosim.parameter(unit="N/m", minimum=0.0)

    def force(self, X_GB1, X_GB2, stiffness, F_GB1):
        F_GB1[3:] += stiffness * (X_GB2[9:] - X_GB1[9:])


class TestPull(ForceElementContract):
    make = staticmethod(lambda: Pull(stiffness=3.0))
'''


@pytest.mark.thorough
def test_the_kit_finds_the_smallest_example_in_a_test_file_of_a_third_party(tmp_path):
    (tmp_path / "test_third_party.py").write_text(THIRD_PARTY)
    options = ["-q", "-p", "no:cacheprovider", "-k", "internal"]
    command = [sys.executable, "-m", "pytest", *options, "test_third_party.py"]
    process = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert process.returncode == 1
    assert "1 failed, 15 deselected" in process.stdout
    assert "about Ground's origin" in process.stdout
    assert "body2=Placed(turn=(0.0, 0.0, 0.0)" in process.stdout, "the counterexample is not the smallest one"
