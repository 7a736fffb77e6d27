"""A model that knows bodies and joints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

import cosim
import cosim.kit
from cosim_mechanics.complete_model import GRAVITY, complete_model, mechanics_id
from cosim_mechanics.scene import scene
from cosim_mechanics.shapes import Shape, contacts_between, law_between

if TYPE_CHECKING:
    from cosim_mechanics.contracts import Constraint, Contact, Joint
    from cosim_mechanics.forces.collisions import Collisions
    from cosim_mechanics.forces.sphere_contact import SphereContact
    from cosim_mechanics.rigid_body import RigidBody


class Multibody(cosim.Model):
    """A model with Ground, gravity and an energy balance, and words for bodies and joints.

    Every method only calls `add`; the parts that it makes itself are ``ground`` (mechanics.ground),
    ``gravity`` (mechanics.gravity) and ``energy`` (mechanics.energy).

    Parameters
    ----------
    name : str
    gravity : array_like, shape (3,), m/s2, default (0, 0, -9.81)
        Acceleration of a freely falling body, in Ground.
    **settings
        As of `cosim.Model`.

    Attributes
    ----------
    remarks : list of str
        Of a robot that was imported: what of its file was not taken over, and what was changed.

    Examples
    --------
    >>> model = Multibody("pendulum")
    >>> bob = model.body("bob", mass=1.0, inertia=(0, 0, 0), center_of_mass=(0, -1, 0))
    >>> hinge = model.joint("pin", child=bob)
    >>> hinge.name
    'bob_joint'
    """

    def __init__(self, name: str, gravity: Any = GRAVITY, **settings: Any) -> None:
        super().__init__(name, **settings)
        self.remarks: list[str] = []
        complete_model(self, gravity)

    @classmethod
    @cosim.kit.options_checked
    def from_urdf(cls, path: str | PathLike[str], **options: Any) -> Self:
        """The robot of a URDF file.

        Parameters
        ----------
        path : path_like
        **options
            `base`: ``"fixed"`` (default; the first link is fixed on Ground) or ``"free"``; `keep_fixed`:
            whether links with mass on fixed joints stay bodies of their own (False); `actuators`: whether
            joints have an input for their effort (True); `motors`: whether that is a `JointMotor` with the
            greatest effort and speed of the file, and a target (False).

        Returns
        -------
        Multibody
            `remarks` lists what of the file was not taken over, and what was changed.

        Raises
        ------
        ModelError
            All faults of the file together, each with its line.
        """
        return cls._read_robot("robots.urdf", path, options)

    @classmethod
    @cosim.kit.options_checked
    def from_mjcf(cls, path: str | PathLike[str], **options: Any) -> Self:
        """The bodies, joints and actuators of a model of MuJoCo.

        Coordinates of hinges and slides are those of MuJoCo. Of free and ball joints they count from where
        the file puts the body.

        Parameters
        ----------
        path : path_like
        **options
            `keep_fixed`: whether bodies with mass that are fixed to others stay bodies of their own (False);
            `actuators`: whether joints that the file drives have an input (True); `motors`: whether that is
            a `JointMotor` with the greatest effort of the file (False; servos always are).

        Returns
        -------
        Multibody
            `remarks` lists what of the file was not taken over, and what was changed.

        Raises
        ------
        ModelError
            All faults of the file and of those that it includes, each with its line.
        """
        return cls._read_robot("robots.mjcf", path, options)

    @classmethod
    def _read_robot(cls, id: str, path: str | PathLike[str], options: dict[str, Any]) -> Self:
        reader: Any = cosim.registry().get("model_reader", id)()
        return cast("Self", reader.read_into(cls, Path(path), **options))

    @property
    def gravity(self) -> Any:
        """Acceleration of a freely falling body, m/s2, in Ground: a value of the part ``gravity``."""
        return self.parts["gravity"].gravity  # type: ignore[attr-defined]

    @gravity.setter
    def gravity(self, value: Any) -> None:
        self.parts["gravity"].gravity = value  # type: ignore[attr-defined]

    @cosim.kit.options_checked
    def body(self, name: str, **values: Any) -> RigidBody:
        """Add a rigid body.

        Parameters
        ----------
        name : str
        **values
            `mass` (kg), `inertia` (kg.m2, about the centre of mass), `center_of_mass` (m): see
            `cosim_mechanics.RigidBody`.

        Returns
        -------
        RigidBody
        """
        return cast("RigidBody", self.add("mechanics.rigid_body", name, **values))

    @cosim.kit.options_checked
    def joint(
        self, kind: str, child: Any, parent: Any = "ground", name: str | None = None, **values: Any
    ) -> Joint:
        """Add a joint between two bodies.

        Parent and child say what its coordinates mean; which of them carries the other follows from where
        Ground is.

        Parameters
        ----------
        kind : str
            ``"free"``, ``"pin"``, ``"slider"``, ``"weld"`` …, or the whole id of a joint (``"acme.helix"``).
        child, parent : body or its name
        name : str, optional
            By default the name of the child (of the parent where the child is Ground) and ``_joint``.
        **values
            `frame_on_parent`, `frame_on_child` (poses), start values `q` and `u`.

        Returns
        -------
        Joint
        """
        if name is None:
            ends = [end if isinstance(end, str) else end.name for end in (child, parent)]
            name = f"{ends[ends[0] == 'ground']}_joint"
        return cast("Joint", self.add(mechanics_id(kind), name, parent=parent, child=child, **values))

    @cosim.kit.options_checked
    def constraint(self, kind: str, name: str, **values: Any) -> Constraint:
        """Add a constraint: a condition that the tree of joints does not hold by itself.

        Parameters
        ----------
        kind : str
            ``"rod"``, ``"ball_constraint"``, ``"gear"`` …, or the whole id of a constraint.
        name : str
        **values
            What it acts on (`body1`, `coordinate1` …) and its parameters.

        Returns
        -------
        Constraint
        """
        return cast("Constraint", self.add(mechanics_id(kind), name, **values))

    @cosim.kit.options_checked
    def contacts(
        self, name: str, body1: Any, body2: Any, points: Any, radius: float, **values: Any
    ) -> list[SphereContact]:
        """Add contacts of a rounded body with a plane: one ``mechanics.sphere_contact`` for each point.

        Parameters
        ----------
        name : str
            The contacts are ``name_1``, ``name_2`` …, in the order of the points.
        body1, body2 : body or its name
            The one with the plane, the rounded one.
        points : sequence of array_like, shape (3,), m
            Centres of the roundings, in the frame of body 2: `box_corners`, `capsule_ends`, `hull_vertices`.
        radius : float, m
            Of the roundings.
        **values
            As of `SphereContact`.

        Returns
        -------
        list of SphereContact
        """
        return [
            cast(
                "SphereContact",
                self.add(
                    "mechanics.sphere_contact",
                    f"{name}_{i}",
                    body1=body1,
                    body2=body2,
                    center_on_body2=point,
                    radius=radius,
                    **values,
                ),
            )
            for i, point in enumerate(points, 1)
        ]

    @cosim.kit.options_checked
    def shape_contacts(
        self, name: str, body1: Any, shape1: Shape, body2: Any, shape2: Shape, **values: Any
    ) -> list[Contact]:
        """Add the contacts that two shapes need.

        Parameters
        ----------
        name : str
            Of the contact; if there are several they are ``name_1``, ``name_2`` …
        body1, body2 : body or its name
        shape1, shape2 : Shape
            Of `cosim_mechanics.shapes`: one of them a `HalfSpace`, a `Sphere` or a `Capsule`.
        **values
            As of `Contact`: `stiffness`, `restitution`, `static_friction` … By default those of the
            shapes' materials.

        Returns
        -------
        list of Contact
            Where a contact has the second shape on its body 1, the bodies have changed places.

        Raises
        ------
        ModelError
            There is no contact of these two shapes, or one lacks the rounding that a plane needs.
        """
        contacts, changed = contacts_between(shape1, shape2)
        values = {**law_between(shape1, shape2), **values}
        ends = {"body1": body2, "body2": body1} if changed else {"body1": body1, "body2": body2}
        names = [name] if len(contacts) == 1 else [f"{name}_{i}" for i in range(1, len(contacts) + 1)]
        return [
            cast("Contact", self.add(id_, each, **ends, **parameters, **values))
            for each, (id_, parameters) in zip(names, contacts, strict=True)
        ]

    @cosim.kit.options_checked
    def collisions(
        self,
        name: str,
        shapes: Mapping[Any, Shape | Sequence[Shape]],
        ignore: Iterable[Sequence[Any]] = (),
        **values: Any,
    ) -> Collisions:
        """Add contacts of all these shapes with each other; those that touch are found while the model runs.

        Call it when all bodies and joints are there. Shapes of one body do not touch each other, nor do two
        bodies with a mass that a joint connects.

        Parameters
        ----------
        name : str
        shapes : mapping of body (or its name) to shape or shapes
            Of `cosim_mechanics.shapes`.
        ignore : sequence of pairs of bodies
            Further ones that do not touch.
        **values
            As of `cosim_mechanics.Collisions`: `stiffness`, `restitution`, `friction` … of shapes without
            a material.

        Raises
        ------
        ModelError
            A key that is not a body, or a shape that cannot take part.
        """
        described = {**scene(self, shapes, ignore), **values}
        return cast("Collisions", self.add("mechanics.collisions", name, **described))
