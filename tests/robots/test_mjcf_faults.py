"""Faults of MJCF files are reported with their file and a text that says what is needed."""

from __future__ import annotations

from pathlib import Path

import pytest
from mjcf_files import hinge

import cosim

FAULTS = {
    "another file": ("<robot/>", "is <robot>, needs <mujoco>"),
    "no bodies": ("<mujoco/>", "has no links"),
    "kind": (f"<mujoco><worldbody>{hinge('type=`x`')}</worldbody></mujoco>", "type 'x', needs one of hinge"),
    "class": (f"<mujoco><worldbody>{hinge('class=`x`')}</worldbody></mujoco>", "no class of defaults 'x'"),
    "axis": (f"<mujoco><worldbody>{hinge('axis=`0 0 0`')}</worldbody></mujoco>", "it has no direction"),
    "quaternion": (f"<mujoco><worldbody>{hinge(body='quat=`0 0 0 0`')}</worldbody></mujoco>", "no direction"),
    "two ways": (
        f"<mujoco><worldbody>{hinge(body='quat=`1 0 0 0` euler=`0 0 0`')}</worldbody></mujoco>",
        "has quat and euler: needs one orientation",
    ),
    "range": (f"<mujoco><worldbody>{hinge('range=`1 0`')}</worldbody></mujoco>", "the lower end"),
    "size": (
        f"<mujoco><worldbody>{hinge(inside='<geom type=`box` size=`1 2`/>')}</worldbody></mujoco>",
        "a box needs 3 sizes above 0",
    ),
    "mesh": (
        f"<mujoco><worldbody>{hinge(inside='<geom type=`mesh` mesh=`m`/>')}</worldbody></mujoco>",
        "give the body an <inertial>",
    ),
    "replicate": (
        f"<mujoco><worldbody>{hinge(tail='<replicate count=`2`/>')}</worldbody></mujoco>",
        "<replicate> makes bodies that are not read",
    ),
    "two bodies": (f"<mujoco><worldbody>{hinge()}{hinge()}</worldbody></mujoco>", "a second body 'b'"),
    "two joints": (
        f"<mujoco><worldbody>{hinge()}{hinge().replace('b', 'c', 1)}</worldbody></mujoco>",
        "robot.xml",
    ),
    "include itself": ("<mujoco><include file='robot.xml'/></mujoco>", "includes itself"),
    "include absolute": ("<mujoco><include file='/etc/a.xml'/></mujoco>", "needs a relative path"),
    "include text": ("<mujoco><include file='../passwd'/></mujoco>", "that ends in .xml"),
    "include nothing": ("<mujoco><include file='none.xml'/></mujoco>", "robot.xml:1: "),
    "sequence": (
        f"<mujoco><compiler eulerseq='xyw'/><worldbody>{hinge(body='euler=`1 2 3`')}</worldbody></mujoco>",
        "needs three of xyzXYZ",
    ),
    "negative": (f"<mujoco><worldbody>{hinge('damping=`-1`')}</worldbody></mujoco>", "are 0 or more"),
}
"""Texts of files (with ` for quotes inside quotes) and of their errors."""


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_reported_with_their_file(tmp_path: Path, fault: str) -> None:
    text, expected = FAULTS[fault]
    path = tmp_path / "robot.xml"
    path.write_text(text.replace("`", "'") if '"' not in text else text, "utf-8")
    with pytest.raises(cosim.ModelError) as caught:
        cosim.Model.from_file(path)
    assert expected in str(caught.value)
    assert "robot.xml" in str(caught.value)
