"""Reference accelerations of a URDF file, by Lagrange's equations with derivatives by complex steps."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

GRAVITY = np.array([0.0, 0.0, -9.81])
STEP = 1e-30
"""The complex step: so small that the derivative is exact."""


def rotation(axis: Any, angle: Any) -> Any:
    """Return the rotation about an axis by an angle, which may be complex."""
    x, y, z = np.asarray(axis, dtype=float) / np.linalg.norm(np.asarray(axis, dtype=float))
    skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * skew + (1 - np.cos(angle)) * (skew @ skew)


def numbers(element: Any, key: str, default: str) -> Any:
    """Return the numbers of an attribute; the default if there is no element or no attribute."""
    return np.array([float(x) for x in (default if element is None else element.get(key, default)).split()])


def origin(element: Any) -> tuple[Any, Any]:
    """Return rotation and position of the origin of an element."""
    child = element.find("origin")
    roll, pitch, yaw = numbers(child, "rpy", "0 0 0")
    R = rotation((0, 0, 1), yaw) @ rotation((0, 1, 0), pitch) @ rotation((1, 0, 0), roll)
    return R, numbers(child, "xyz", "0 0 0")


@dataclass
class Reference:
    """The tree of a file; q and u have one number for each moving joint, in the order of the file."""

    path: Path

    def __post_init__(self) -> None:
        root = ElementTree.parse(self.path).getroot()
        self.links = {link.get("name"): link for link in root.findall("link")}
        self.joints = root.findall("joint")
        self.moving = [j.get("name") for j in self.joints if j.get("type") != "fixed"]
        children = {j.find("child").get("link") for j in self.joints}
        self.root = next(name for name in self.links if name not in children)

    def poses(self, q: Any) -> dict[str, Any]:
        """Return rotation, position and Jacobians (angular, linear) of the origin of each link."""
        count = len(self.moving)
        zero = np.zeros((3, count), dtype=complex)
        poses = {self.root: (np.eye(3) + 0j, np.zeros(3) + 0j, zero, zero)}
        waiting = [*self.joints]
        while waiting:
            joint = waiting.pop(0)
            parent = joint.find("parent").get("link")
            if parent not in poses:
                waiting.append(joint)
                continue
            R, p, J_W, J_V = poses[parent]
            R_joint, shift = origin(joint)
            arm = R @ shift
            R, p = R @ R_joint, p + arm
            J_W, J_V = J_W.copy(), J_V + np.cross(J_W.T, arm).T
            if joint.get("type") != "fixed":
                i = self.moving.index(joint.get("name"))
                axis = numbers(joint.find("axis"), "xyz", "1 0 0")
                axis = axis / np.linalg.norm(axis)
                if joint.get("type") == "prismatic":
                    step = R @ axis * q[i]
                    p, J_V = p + step, J_V + np.cross(J_W.T, step).T
                    J_V[:, i] += R @ axis
                else:
                    J_W[:, i] += R @ axis
                    R = R @ rotation(axis, q[i])
            poses[joint.find("child").get("link")] = (R, p, J_W, J_V)
        return poses

    def mass_and_potential(self, q: Any) -> tuple[Any, Any]:
        """Return the mass matrix and the potential energy."""
        M, V = np.zeros((len(self.moving),) * 2, dtype=complex), 0j
        for name, (R, p, J_W, J_V) in self.poses(q).items():
            inertial = self.links[name].find("inertial")
            if inertial is None:
                continue
            R_inertia, center = origin(inertial)
            mass = float(inertial.find("mass").get("value"))
            get = inertial.find("inertia").get
            xx, yy, zz, xy, xz, yz = (float(get(f"i{k}")) for k in ("xx", "yy", "zz", "xy", "xz", "yz"))
            axes = R @ R_inertia
            inertia = axes @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ axes.T
            arm = R @ center
            J_C = J_V + np.cross(J_W.T, arm).T
            M = M + mass * J_C.T @ J_C + J_W.T @ inertia @ J_W
            V = V - mass * GRAVITY @ (p + arm)
        return M, V

    def equations(self, q: Any, u: Any) -> tuple[Any, Any]:
        """Return the mass matrix and the generalized forces of gravity and motion: M u' = tau + forces."""
        count = len(self.moving)
        mass_slopes, potential_slopes = [], np.zeros(count)
        for i in range(count):
            M, V = self.mass_and_potential(q + 1j * STEP * (np.arange(count) == i))
            mass_slopes.append(M.imag / STEP)
            potential_slopes[i] = V.imag / STEP
        mass_rate = sum(slope * speed for slope, speed in zip(mass_slopes, u, strict=True))
        kinetic_slopes = np.array([0.5 * u @ slope @ u for slope in mass_slopes])
        return self.mass_and_potential(q + 0j)[0].real, kinetic_slopes - mass_rate @ u - potential_slopes
