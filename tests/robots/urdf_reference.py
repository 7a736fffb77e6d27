"""A second road from URDF to accelerations: Lagrange's equations, derivatives by complex steps."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

GRAVITY = np.array([0.0, 0.0, -9.81])
STEP = 1e-30


def rotation(axis: Any, angle: Any) -> Any:
    x, y, z = np.asarray(axis, dtype=float) / np.linalg.norm(np.asarray(axis, dtype=float))
    skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * skew + (1 - np.cos(angle)) * (skew @ skew)


def numbers(element: Any, key: str, default: str) -> Any:
    return np.array([float(x) for x in (default if element is None else element.get(key, default)).split()])


def origin(element: Any) -> tuple[Any, Any]:
    found = element.find("origin")
    roll, pitch, yaw = numbers(found, "rpy", "0 0 0")
    turned = rotation((0, 0, 1), yaw) @ rotation((0, 1, 0), pitch) @ rotation((1, 0, 0), roll)
    return turned, numbers(found, "xyz", "0 0 0")


@dataclass
class Reference:
    """The tree of a file; q and u have one number for each joint that moves, in the order of the file."""

    path: Path

    def __post_init__(self) -> None:
        root = ElementTree.parse(self.path).getroot()
        self.links = {link.get("name"): link for link in root.findall("link")}
        self.joints = root.findall("joint")
        self.moving = [j.get("name") for j in self.joints if j.get("type") != "fixed"]
        children = {j.find("child").get("link") for j in self.joints}
        self.root = next(name for name in self.links if name not in children)

    def poses(self, q: Any) -> dict[str, Any]:
        """Rotation, position, and Jacobians of the link's origin (angular, linear)."""
        count = len(self.moving)
        zero = np.zeros((3, count), dtype=complex)
        found = {self.root: (np.eye(3) + 0j, np.zeros(3) + 0j, zero, zero)}
        waiting = [*self.joints]
        while waiting:
            joint = waiting.pop(0)
            parent = joint.find("parent").get("link")
            if parent not in found:
                waiting.append(joint)
                continue
            R, p, J_W, J_V = found[parent]
            turned, shift = origin(joint)
            arm = R @ shift
            R, p = R @ turned, p + arm
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
            found[joint.find("child").get("link")] = (R, p, J_W, J_V)
        return found

    def mass_and_potential(self, q: Any) -> tuple[Any, Any]:
        M, V = np.zeros((len(self.moving),) * 2, dtype=complex), 0j
        for name, (R, p, J_W, J_V) in self.poses(q).items():
            inertial = self.links[name].find("inertial")
            if inertial is None:
                continue
            turned, center = origin(inertial)
            mass = float(inertial.find("mass").get("value"))
            get = inertial.find("inertia").get
            xx, yy, zz, xy, xz, yz = (float(get(f"i{k}")) for k in ("xx", "yy", "zz", "xy", "xz", "yz"))
            axes = R @ turned
            inertia = axes @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ axes.T
            arm = R @ center
            J_C = J_V + np.cross(J_W.T, arm).T
            M = M + mass * J_C.T @ J_C + J_W.T @ inertia @ J_W
            V = V - mass * GRAVITY @ (p + arm)
        return M, V

    def equations(self, q: Any, u: Any) -> tuple[Any, Any]:
        """Mass matrix, and the generalized forces of gravity and motion: M u' = tau + forces."""
        count = len(self.moving)
        slopes, pull = [], np.zeros(count)
        for i in range(count):
            M, V = self.mass_and_potential(q + 1j * STEP * (np.arange(count) == i))
            slopes.append(M.imag / STEP)
            pull[i] = V.imag / STEP
        rate = sum(slope * speed for slope, speed in zip(slopes, u, strict=True))
        gained = np.array([0.5 * u @ slope @ u for slope in slopes])
        return self.mass_and_potential(q + 0j)[0].real, gained - rate @ u - pull
