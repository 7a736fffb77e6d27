"""The tables of a model file that speak of mechanics: bodies, joints, constraints, elements."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import cosim
from cosim_mechanics.complete_model import GRAVITY, complete_model

Report = Callable[[str, str], None]


class MechanicsTable(cosim.ModelTable):
    """Base of these tables: Ground, gravity and the energy balance come with whichever is there."""

    prefix = "mechanics"
    settings: ClassVar[Mapping[str, Any]] = {"gravity": GRAVITY}

    def begin(self, model: cosim.Model, settings: Mapping[str, Any]) -> None:
        """Add what every multibody model has, once."""
        try:
            complete_model(model, settings["gravity"])
        except cosim.ModelError as error:
            raise cosim.ModelError([cosim.Problem("gravity", p.text) for p in error.problems]) from None

    def add(
        self, model: cosim.Model, name: str, entry: Mapping[str, Any], report: Report, under: str = ""
    ) -> None:
        """Add a part; its faults are reported at their keys, below the key `under` of the entry."""

        def at(key: str, text: str) -> None:
            report(".".join(part for part in (under, key) if part), text)

        try:
            self.add_part(model, name, entry, at)
        except cosim.ModelError as error:
            for problem in error.problems:
                at(problem.where.partition(".")[2], problem.text)
        except cosim.LookUpError as error:
            at("type", str(error))

    def schema(self, parts: Mapping[str, Any]) -> dict[str, Any]:
        """A part of any kind."""
        return self.part_schema(parts)


class BodiesTable(MechanicsTable):
    """``[bodies.engine]``: a rigid body, and with ``joint`` the joint that moves it.

    ``joint = "free"`` puts the joint ``engine_joint`` between Ground and the body; ``joint = { type = "pin",
    parent = "arm", frame_on_parent = [0, 0, 1] }`` says more. An id without a dot is looked up under
    ``mechanics.``. Every other key is a value of `RigidBody`; with ``type = "unchecked_body"`` any moments of
    inertia are taken.
    """

    table = "bodies"

    def read(self, model: cosim.Model, name: str, entry: dict[str, Any], report: Report) -> None:
        """Add the body, then its joint."""
        body = {"type": "rigid_body"} | {key: value for key, value in entry.items() if key != "joint"}
        self.add(model, name, body, report)
        joint = entry.get("joint")
        if joint is None:
            return
        if isinstance(joint, str):
            # What may be wrong is the word itself, so the fault stands at the key.
            table = {"type": joint, "parent": "ground", "child": name}
            self.add(model, f"{name}_joint", table, lambda _, text: report("joint", text))
        elif isinstance(joint, Mapping):
            self.add(model, f"{name}_joint", {"parent": "ground", **joint, "child": name}, report, "joint")
        else:
            report("joint", f'joint is {joint!r}, needs an id such as "free", or a table with a type')

    def schema(self, parts: Mapping[str, Any]) -> dict[str, Any]:
        """A rigid body, and its joint as an id or a table."""
        joint = self.part_schema(parts, given=("parent", "child"))
        either = {"anyOf": [{"type": "string"}, joint]}
        kinds = ["rigid_body", "unchecked_body"]  # which have the same keys
        either_kind = {"enum": [*kinds, *(f"mechanics.{kind}" for kind in kinds)], "default": kinds[0]}
        return self.part_schema(parts, {"type": either_kind, "joint": either}, only="mechanics.rigid_body")


class JointsTable(MechanicsTable):
    """``[joints.hinge]``: a joint with ``type``, ``child``, ``parent`` (by default Ground) and its values."""

    table = "joints"

    def read(self, model: cosim.Model, name: str, entry: dict[str, Any], report: Report) -> None:
        """Add a joint to the model; `child` names the body that it moves."""
        if "child" not in entry:
            report("child", "child is missing: the name of the body that this joint moves")
        else:
            self.add(model, name, {"parent": "ground", **entry}, report)


class ElementsTable(MechanicsTable):
    """``[elements.mount]``: a force element (or any other component) with ``type`` and its values."""

    table = "elements"

    def read(self, model: cosim.Model, name: str, entry: dict[str, Any], report: Report) -> None:
        """Add a part to the model."""
        self.add(model, name, entry, report)


class ConstraintsTable(ElementsTable):
    """``[constraints.closure]``: a constraint with ``type`` and its values."""

    table = "constraints"
