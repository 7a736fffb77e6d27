"""Mistakes in kernel functions with a view are answered in the words of the author, with line and remedy."""

from __future__ import annotations

import numpy as np
import pytest
from view_source import class_with

import cosim

MISTAKES = {
    "s.torque = s.gian * s.angle": "'s.gian' is neither declared nor offered by an attachment; nearest: 's.g"
    "ain'",
    "s.torque = angle": "'angle' is an attribute of the view here: write s.angle",
    "s.gain * s.angle": "nothing that it computes stays; results are attributes of s: write s.angle_dot = …",
    "return s.angle": "what a kernel function returns is lost; results are attributes of s: write",
    "s.gain = 2.0": "s.gain may only be read",
    "s.angle = 2.0": "s.angle is the present value, and is read only; variables change in handlers (cosim.on"
    ", cosim.every): write s.angle_next = … there",
    "s.force = 2.0": "`s.force = …` changes nothing outside; s.force has 2 elements: write s.force[0] = …",
    "s.shared = 2.0": "s.shared has 1 elements: write s.shared[0] += …",
    "s.torque = s.angle_dot": "s.angle_dot is a result but never written: write s.angle_dot = …; it cannot "
    "be read: compute it here, too, or read a cache_slot",
    "s.torque = 2.0 * s.angle_dot": "s.angle_dot is a result but never written: write s.angle_dot = …; it",
    "s.torque = s.gain[0]": "s.gain is a number here: write s.gain, not s.gain[0]",
    "s.torque = 2.0 * s.force": "s.force is a view of 2 numbers: compute with its elements, s.force[0]",
    "s.force[2] = 1.0": "s.force has 2 elements, [2] is outside",
    "s.force[0] = 1.0": "s.force[1] may not have been written here",
    "s.force[0:2] = s.force": "s.force[0:2] = … cannot be compiled; for i in range(…): s.force[i] = …",
    "s.torque = s.force.sum()": "s.force.sum cannot be compiled; write a loop",
    "if s.angle > 0.0: s.torque = 1.0": "s.torque may not have been written here, and would keep the value "
    "of an earlier evaluation: write s.torque = … before",
    "s.torque = s.torque + 1.0": "s.torque is read before it is written, and has the value of an earlier "
    "evaluation: write s.torque = … first",
    "x = s; s.torque = 1.0": "s stands for all that the function may ask for: write an attribute of it, s."
    "torque",
    "s.torque = s[0]": "s stands for all that the function may ask for",
    "s.torque = getattr(s, 'angle')": "s stands for all that the function may ask for",
    "helper(s)": "'s.torqe' is neither declared nor offered by an attachment; nearest: 's.torque'",
    "further(s)": "'further' is defined further down; move it above the class",
    "s.torque = s.past": "s.past is a history: call what it has: ring, count, entry(), ",
    "s.torque = s.past.brek_time": "s.past.brek_time: a history has no 'brek_time'; nearest: 'break_time'",
    "s.past.append(s.t, 0.0, 0.0, s.angle, s.rate)": "s.past may only be read",
    "s.torque = 1.0; del s.torque": "a kernel function cannot use del",
}


@pytest.mark.parametrize("body", MISTAKES)
def test_a_mistake_is_answered_in_the_words_of_the_author(body: str) -> None:
    with pytest.raises(cosim.ContractError) as raised:
        class_with(
            f"    @cosim.kernel\n    def law(s):\n        {body}\ndef further(s):\n    s.torque = s.angle\n",
            "def helper(s):\n    s.torqe = s.angle\n",
            '    past = cosim.history(of="angle", keep="gain")\n'
            "    shared = cosim.cache_slot(shape=1, accumulates=True)\n",
        )
    assert MISTAKES[body] in str(raised.value)
    assert "'s' is neither declared" not in str(raised.value)


def test_an_error_has_the_line_of_the_author() -> None:
    with pytest.raises(cosim.ContractError, match=r":16: Part.law: 's.gian'"):
        class_with("    @cosim.kernel\n    def law(s):\n\n        s.torque = s.gian\n")


def test_a_misspelt_argument_is_no_view() -> None:
    with pytest.raises(cosim.ContractError, match="'anlge'.*neither declared.*'angle'"):
        class_with("    @cosim.witness\n    def low(anlge):\n        return anlge\n")
    with pytest.raises(cosim.ContractError, match="'anlge'.*neither declared.*'angle'"):
        class_with(
            "    @cosim.witness\n    def low(anlge):\n        return twice(anlge)\n",
            "def twice(x):\n    return 2.0 * x\n",
        )


def test_a_declared_name_is_no_view() -> None:
    with pytest.raises(cosim.ContractError, match="'angle'.*declared"):
        class_with("    @cosim.kernel\n    def law(angle):\n        angle.torque = 1.0\n")


def test_a_publish_cannot_write() -> None:
    with pytest.raises(cosim.ContractError, match="publish changes nothing.*s.hits_next"):
        class_with('    @cosim.every(0.1, does="publish")\n    def show(s):\n        s.hits_next = 1\n')


def test_a_function_with_a_view_needs_a_decorator() -> None:
    with pytest.raises(cosim.ContractError, match="nothing calls law.*@cosim.kernel"):
        class_with("    def law(s):\n        s.torque = s.angle\n")


def test_an_exception_has_the_line_of_the_author() -> None:
    part_class = class_with(
        "    @cosim.kernel\n    def law(s):\n        s.torque = s.angle\n"
        '        if s.angle > 0.0:\n            raise ValueError("too far")\n'
    )
    with pytest.raises(ValueError, match="too far") as raised:
        part_class.kernels["law"].call_by_name(angle=1.0, torque=np.zeros(1))
    assert raised.traceback[-1].lineno + 1 == 17
