"""The tables of a model file that speak of mechanics: bodies, joints, elements."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import cosim
from cosim_mechanics.furnish import GRAVITY, furnish, mechanics_id

Report = Callable[[tuple[str, ...], str], None]


class MechanicsTable(cosim.ModelTable):
    """Base of the three: Ground, gravity and the energy balance come with the first table that is read."""

    settings: ClassVar[Mapping[str, Any]] = {"gravity": GRAVITY}

    def begin(self, model: cosim.Model, settings: Mapping[str, Any]) -> None:
        """Keep the direction of gravity until there is something to act on."""
        self.gravity = settings.get("gravity", GRAVITY)

    def furnish(self, model: cosim.Model, report: Report) -> None:
        """Add what every multibody model has, once."""
        try:
            furnish(model, self.gravity)
        except cosim.ModelError as error:
            for problem in error.problems:
                report((), f"[model] {problem}")

    def add(
        self,
        model: cosim.Model,
        name: str,
        kind: Any,
        values: Mapping[str, Any],
        report: Report,
        at: tuple[str, ...] = (),
    ) -> None:
        """Add a part; its faults are reported at the keys of the entry that they belong to."""
        if not isinstance(kind, str):
            given = "is missing" if kind is None else f"is {kind!r}"
            report((*at, "type"), f'type {given}, needs an id such as "mechanics.linear_bushing"')
            return
        try:
            model.add(mechanics_id(kind), name, **values)
        except cosim.ModelError as error:
            for problem in error.problems:
                keys = tuple(problem.where.split(".")[1:])
                report((*at, *keys), problem.text)
        except cosim.LookUpError as error:
            report((*at, "type"), str(error))


class BodiesTable(MechanicsTable):
    """``[bodies.engine]``: a rigid body, and with ``joint`` the joint that moves it.

    ``joint = "free"`` puts the joint ``engine_joint`` between Ground and the body; ``joint = { type = "pin",
    parent = "arm", frame_on_parent = [0, 0, 1] }`` says more. An id without a dot is looked up under
    ``mechanics.``. Every other key is a value of `RigidBody`.
    """

    table = "bodies"

    def read(self, model: cosim.Model, name: str, entry: Mapping[str, Any], report: Report) -> None:
        """Add the body, then its joint."""
        self.furnish(model, report)
        values = {key: value for key, value in entry.items() if key not in ("joint", "type")}
        self.add(model, name, entry.get("type", "rigid_body"), values, report)
        joint = entry.get("joint")
        if joint is None:
            return
        if isinstance(joint, Mapping):
            given = {"parent": "ground", **joint, "child": name}
            kind = given.pop("type", None)
            self.add(model, f"{name}_joint", kind, given, report, ("joint",))
        elif isinstance(joint, str):
            self._shortcut(model, name, joint, report)
        else:
            report(("joint",), f'joint is {joint!r}, needs an id such as "free" or a table with a type')

    def _shortcut(self, model: cosim.Model, name: str, kind: str, report: Report) -> None:
        def at_joint(keys: tuple[str, ...], text: str) -> None:
            report(("joint",), text)

        self.add(model, f"{name}_joint", kind, {"parent": "ground", "child": name}, at_joint)


class JointsTable(MechanicsTable):
    """``[joints.hinge]``: a joint with ``type``, ``child``, ``parent`` (by default Ground) and its values."""

    table = "joints"

    def read(self, model: cosim.Model, name: str, entry: Mapping[str, Any], report: Report) -> None:
        """Add the joint."""
        self.furnish(model, report)
        values = {"parent": "ground"} | {key: value for key, value in entry.items() if key != "type"}
        if "child" not in values:
            report(("child",), "child is missing: the name of the body that this joint moves")
            return
        self.add(model, name, entry.get("type"), values, report)


class ElementsTable(MechanicsTable):
    """``[elements.mount]``: a force element (or any other component) with ``type`` and its values."""

    table = "elements"

    def read(self, model: cosim.Model, name: str, entry: Mapping[str, Any], report: Report) -> None:
        """Add the element."""
        self.furnish(model, report)
        values = {key: value for key, value in entry.items() if key != "type"}
        self.add(model, name, entry.get("type"), values, report)
