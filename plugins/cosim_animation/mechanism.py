"""The drawn parts of a model: bodies, joints, elements between points, as their classes declare them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

import cosim
from cosim_animation.look import Look
from cosim_mechanics.spatial import IDENTITY

STATIONS = ("station_on_body", "frame_on_body")
"""Parameters with a number behind, that say where an element is fixed on its bodies."""


@dataclass
class Mechanism:
    """Parts of a model by what is drawn of them.

    Attributes
    ----------
    bodies : list of str
        Ground first.
    joints : list of str
    links : list of str
        Elements between two points.
    contacts : list of str
        What says where two surfaces touch and how they push.
    looks : list of Look
    up : ndarray, shape (3,)
        Against gravity.
    """

    model: cosim.Model
    bodies: list[str] = field(default_factory=list)
    joints: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    contacts: list[str] = field(default_factory=list)
    looks: list[Look] = field(default_factory=list)
    up: Any = None

    @classmethod
    def of(cls, model: cosim.Model) -> Mechanism:
        """The drawn parts of a model.

        Raises
        ------
        CosimError
            A model without bodies.
        """
        mechanism = cls(model)
        for name, part in model.parts.items():
            names = type(part).declarations.keys()
            if isinstance(part, Look):
                mechanism.looks.append(part)
            elif names >= {"X_GB", "mass"}:
                mechanism.bodies.append(name)
            elif "X_GB" in names:
                mechanism.bodies.insert(0, name)
            elif names >= {"parent", "child", "X_FM"}:
                mechanism.joints.append(name)
            elif names >= {"point", "normal", "normal_force"}:
                mechanism.contacts.append(name)
            elif names >= {"body1", "body2"} and _kind(part) is not None:
                mechanism.links.append(name)
        if not any("mass" in type(model[name]).declarations for name in mechanism.bodies):
            raise cosim.CosimError(f"{model.name} has no bodies: there is nothing to animate")
        pulls: list[Any] = [p for p in model.parts.values() if "gravity" in type(p).declarations]
        gravity = pulls[0].gravity if pulls else (0.0, 0.0, 0.0)
        size = float(np.linalg.norm(gravity))
        mechanism.up = -np.array(gravity, dtype=float) / size if size else np.array([0.0, 0.0, 1.0])
        return mechanism

    def coordinates(self) -> list[str]:
        """Paths of the coordinates of all joints: with them the poses can be computed."""
        return [f"{name}.q" for name in self.joints if "q" in type(self.model[name]).declarations]

    def forces(self) -> list[str]:
        """Paths that say how elements pull or push, for arrows."""
        touching = ("point", "normal", "normal_force", "friction")
        slots = (("tension", self.links), ("F_GM", self.links), *((s, self.contacts) for s in touching))
        return [f"{n}.{s}" for s, names in slots for n in names if s in type(self.model[n]).declarations]

    def ends(self, name: str) -> list[tuple[str, Any]]:
        """The bodies of an element, and the poses of its ends on them."""
        part, stations = self.model[name], []
        for end in (1, 2):
            place = np.array(getattr(part, f"{_kind(part)}{end}"), dtype=float)
            pose = place if place.size == 12 else np.append(IDENTITY[:9], place)
            stations.append((name_of(getattr(part, f"body{end}")), pose))
        return stations


def name_of(end: Any) -> str:
    """The name of a part that is given by itself or by its name."""
    return end if isinstance(end, str) else str(end.name)


def _kind(part: cosim.Component) -> str | None:
    names = type(part).declarations
    return next((kind for kind in STATIONS if {f"{kind}1", f"{kind}2"} <= names.keys()), None)
