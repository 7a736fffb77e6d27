"""Each check of the kit for joints finds its own deliberately wrong toy, and nothing else."""

import gated_joints as gated
import toy_joints as toys
from toys_of_a_kit import GatedToysOfAKit


class TestToys(GatedToysOfAKit):
    right = toys.RightCase
    wrong = {
        "test_has_a_docstring_with_its_law": toys.SilentCase,
        "test_refuses_parameters_out_of_bounds": toys.ClampingCase,
        "test_pose_is_a_rotation_and_a_position": toys.MirroredCase,
        "test_velocity_is_that_of_the_pose": toys.SlippingCase,
        "test_axes_are_those_of_the_map": toys.PromisingCase,
        "test_velocity_terms_are_those_of_the_map": toys.LaggingCase,
        "test_follows_from_the_state_alone": toys.WearingCase,
        "test_compiled_is_plain_python": toys.OverflowingCase,
    }
    in_variables = gated.JOINTS
    of_declarations = {
        "test_has_a_docstring_with_its_law",
        "test_refuses_parameters_out_of_bounds",
    }
