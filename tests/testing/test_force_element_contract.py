"""Each check of the kit for force elements finds its own deliberately wrong toy, and nothing else."""

import subprocess
import sys

import gated_elements as gated
import pytest
import toy_elements as toys
from failing_checks import ELSEWHERE, failing_checks
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


OTHERS = [toys.RightPlainCase, toys.RightStoringCase, toys.MaxwellCase, toys.BufferCase]


@pytest.mark.thorough
@pytest.mark.parametrize("case", OTHERS)
def test_another_right_element_passes(case):
    assert failing_checks(case) == []


@pytest.mark.parametrize("case", OTHERS)
def test_right_element_passes_in_this_process(case):
    assert failing_checks(case, but=ELSEWHERE) == []


def test_one_side_of_a_kink_may_be_wrong():
    assert failing_checks(toys.LeapingCase, but=ELSEWHERE) == [
        "test_passive",
        "test_power_is_the_loss_of_energy",
    ]


STRANGER = '''
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
def test_kit_runs_in_a_test_file_of_a_stranger(tmp_path):
    (tmp_path / "test_stranger.py").write_text(STRANGER)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-k",
        "internal",
        "test_stranger.py",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1
    assert "1 failed, 15 deselected" in done.stdout
    assert "about Ground's origin" in done.stdout
    assert "body2=Placed(turn=(0.0, 0.0, 0.0)" in done.stdout, "the counterexample is not the smallest one"
