"""Faults of URDF files are reported with their file and a text that says what is needed."""

from __future__ import annotations

from pathlib import Path

import pytest
from urdf_files import EMPTY, bob, joint, robot_text, write_urdf

import cosim

FAULTS = {
    "no robot": ("<a/>", "this is not a URDF"),
    "not well-formed": ("<robot><link></robot>", "robot.urdf:1: is not well-formed XML"),
    "document type": ("<!DOCTYPE robot [<!ENTITY a 'b'>]><robot/>", "declares a document type"),
    "empty": ("", "is not well-formed XML"),
    "no links": ("<robot name='r'/>", "has no links"),
    "xacro": (
        "<robot xmlns:xacro='http://ros.org/wiki/xacro'><xacro:arm/></robot>",
        "run `xacro FILE > robot.urdf` first",
    ),
    "unknown link": (f"<robot>{EMPTY}{joint('fixed')}</robot>", "no link 'b'"),
    "unknown type": (
        robot_text("hinge"),
        "type 'hinge', needs one of revolute, continuous",
    ),
    "no direction": (
        robot_text("continuous", "<axis xyz='0 0 0'/>"),
        "has no direction",
    ),
    "no number": (
        robot_text("continuous", "<axis xyz='0 0 z'/>"),
        "is '0 0 z', needs 3 finite numbers",
    ),
    "infinite": (
        robot_text("continuous", "<origin xyz='0 0 inf'/>"),
        "needs 3 finite numbers",
    ),
    "two roots": (f"<robot>{EMPTY}{bob('b')}</robot>", "the links 'a', 'b' are moved by no joint"),
    "circle": (
        f"<robot><link name='r'/>{EMPTY}{bob('b')}{joint('fixed')}"
        f"{joint('fixed', name='k', parent='b', child='a')}</robot>",
        "the joints 'j', 'k' make a circle",
    ),
    "two parents": (
        robot_text("fixed", "", joint("fixed", name="k")),
        "link 'b' is moved by the joints 'j' and 'k'",
    ),
    "mimics itself": (
        robot_text("continuous", "<mimic joint='j'/>"),
        "mimics itself",
    ),
    "negative mass": (
        "<robot><link name='a'><inertial><mass value='-1'/></inertial></link></robot>",
        "-1 kg",
    ),
    "turned range": (
        robot_text("revolute", "<limit lower='1' upper='0'/>"),
        "the lower limit 1 is above the upper one, 0",
    ),
}
"""Texts of files and of their errors."""


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_reported_with_their_file(tmp_path: Path, fault: str) -> None:
    text, expected = FAULTS[fault]
    path = tmp_path / "robot.urdf"
    path.write_text(text, "utf-8")
    with pytest.raises(cosim.ModelError) as caught:
        cosim.Model.from_file(path)
    assert expected in str(caught.value)
    assert "robot.urdf" in str(caught.value)


def test_a_document_type_is_refused_before_its_entities_are_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("<link name='secret'/>")
    path = write_urdf(tmp_path, "&s;", head=f"<!DOCTYPE robot [<!ENTITY s SYSTEM '{secret}'>]>")
    with pytest.raises(cosim.ModelError, match="document type"):
        cosim.Model.from_file(path)
