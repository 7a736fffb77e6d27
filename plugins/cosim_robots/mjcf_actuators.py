"""Actuators of MJCF: which joints are driven, and how."""

from __future__ import annotations

from cosim_robots.mjcf_document import ACTUATORS, MjcfDocument
from cosim_robots.robot import Robot
from cosim_robots.xml_document import Element


def add_actuators(document: MjcfDocument, robot: Robot) -> None:
    """Note at each joint whether an actuator drives it, its greatest effort, and the gains of a servo.

    Law: effort = gear (gain ctrl + b1 gear q + b2 gear u), so a servo has the stiffness -b1 gear^2 and the
    damping -b2 gear^2, and the effort of the joint is bounded by gear times the range of force.
    """
    sections = [*document.children(document.root, "actuator")]
    if not sections:
        return
    for joint in [*robot.joints]:
        robot.replace_joint(joint, is_driven=False)
    for section in sections:
        for element in document.children(section):
            _add(document, robot, document.fill(element, "", "actuator"))


def _add(document: MjcfDocument, robot: Robot, element: Element) -> None:
    joint = next((j for j in robot.joints if j.name == element.get("joint")), None)
    if element.tag not in ACTUATORS or joint is None or joint.kind not in ("pin", "slider"):
        document.leave_out(
            element,
            "actuators of anything but a hinge or a slide (tendons, sites, bodies) are not taken over",
        )
        return
    gains = _gains(document, element)
    if gains is None:
        document.leave_out(element, f"actuators of type {element.tag} with such gains are not taken over")
        return
    gain, stiffness, damping = gains
    gear = (document.numbers_up_to(element, "gear", 6) or (1.0,))[0]
    if gear == 0.0:
        document.leave_out(element, "actuators with a gear of 0 are not taken over")
        return
    if stiffness == damping == 0.0 and gear * gain != 1.0:
        document.leave_out(element, "inputs of motors are efforts of their joints: gear times control")
    elif stiffness and gear != 1.0:
        document.leave_out(element, "targets of servos are those of their joints: control divided by gear")
    effort = _bound(document, element, "force", abs(gear))
    if effort is None and stiffness == damping == 0.0:
        effort = _bound(document, element, "ctrl", abs(gear * gain))
    bounds = [bound for bound in (effort, joint.effort) if bound is not None]
    robot.replace_joint(
        joint,
        is_driven=True,
        effort=min(bounds, default=None),
        servo_stiffness=joint.servo_stiffness + stiffness * gear * gear,
        servo_damping=joint.servo_damping + damping * gear * gear,
    )


def _gains(document: MjcfDocument, element: Element) -> tuple[float, float, float] | None:
    """Gain, stiffness and damping of an actuator without states; None for another one."""
    if element.tag == "motor":
        return 1.0, 0.0, 0.0
    if element.tag == "position":
        if element.get("dampratio") is not None or document.number(element, "timeconst"):
            return None
        kp = document.number(element, "kp", 1.0)
        return kp, kp, document.number(element, "kv")
    if element.tag == "velocity":
        kv = document.number(element, "kv", 1.0)
        return kv, 0.0, kv
    if element.tag != "general" or element.get("dyntype", "none") != "none":
        return None
    gain = (document.numbers_up_to(element, "gainprm", 10) or (1.0,))[0]
    kind = element.get("gaintype", "fixed"), element.get("biastype", "none")
    b0, b1, b2 = (*document.numbers_up_to(element, "biasprm", 10), 0.0, 0.0, 0.0)[:3]
    if kind == ("fixed", "none"):
        return gain, 0.0, 0.0
    # of a servo the control is a target: of the place, or of the rate
    is_servo = b0 == 0.0 and (gain == -b1 if b1 else gain == -b2) and gain > 0.0 and b2 <= 0.0
    return (gain, -b1, -b2) if kind == ("fixed", "affine") and is_servo else None


def _bound(document: MjcfDocument, element: Element, name: str, scale: float) -> float | None:
    """The greatest effort that a range allows, where it is limited."""
    ends = document.numbers_up_to(element, f"{name}range", 2)
    automatic = document.compiler.get("autolimits", "true") == "true" and bool(ends)
    if not document.is_true(element, f"{name}limited", automatic) or not any(ends):
        return None
    return scale * max(map(abs, ends))
