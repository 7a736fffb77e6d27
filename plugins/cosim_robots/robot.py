"""A robot as its file describes it: links and joints with frames, before it becomes a model."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from cosim_mechanics.spatial import IDENTITY

Reals = tuple[float, ...]

ROOT = ""
"""Name of the world, the parent of the first link."""


def line_of(place: str) -> str:
    """The line of ``file:line``, in words.

    >>> line_of("arm.urdf:12")
    'line 12'
    """
    return f"line {place.rpartition(':')[2]}"


@dataclass(frozen=True)
class Shape:
    """The appearance of a link: an id of ``animation``, its pose on the link, its values, and its color."""

    kind: str
    pose: Reals
    sizes: tuple[tuple[str, float | Reals | str], ...]
    color: Reals | None = None


@dataclass(frozen=True)
class Link:
    """A body: its mass, centre of mass (m) and inertia (kg.m2: xx yy zz xy xz yz about the centre of mass).

    Centre and inertia are expressed in the frame of the link. A link without mass is a frame.
    """

    name: str
    place: str
    mass: float = 0.0
    center_of_mass: Reals = (0.0, 0.0, 0.0)
    inertia: Reals = (0.0,) * 6
    shapes: tuple[Shape, ...] = ()
    is_between: bool = False
    """Whether it is not a link of the file, but stands between two joints that move one body."""


@dataclass(frozen=True)
class Mimic:
    """Keeps a joint at ``ratio * leader + offset``."""

    leader: str
    ratio: float
    offset: float


@dataclass(frozen=True)
class RobotJoint:
    """A joint between two links.

    Coordinates are in rad or m, by the kind of the joint; other numbers in SI units that fit these.

    Attributes
    ----------
    name, place : str
        `place` is ``file:line``.
    kind : str
        The last word of an id of ``mechanics``.
    parent, child : str
    frame_on_parent, frame_on_child : pose
        The poses of its frames as joints of ``mechanics`` need them: their axis of motion is z (pin, planar)
        or x (slider).
    lower, upper : float, optional
        The ends of its range.
    effort, speed : float, optional
        The largest force or torque of its drive, and the largest speed.
    damping, friction, armature : float
        Viscous damping, dry friction, and the inertia of its drive.
    start : float
        The coordinate at which the file draws it.
    stiffness, rest : float
        Of a spring, and the coordinate at which that is at rest.
    mimic : Mimic, optional
    is_driven : bool
        Whether it can get an input; with gains of a servo that is a target.
    servo_stiffness, servo_damping : float
        Gains of a servo by deviation and by rate.
    """

    name: str
    place: str
    kind: str
    parent: str
    child: str
    frame_on_parent: Reals = IDENTITY
    frame_on_child: Reals = IDENTITY
    lower: float | None = None
    upper: float | None = None
    effort: float | None = None
    speed: float | None = None
    damping: float = 0.0
    friction: float = 0.0
    armature: float = 0.0
    start: float = 0.0
    stiffness: float = 0.0
    rest: float = 0.0
    mimic: Mimic | None = None
    is_driven: bool = True
    servo_stiffness: float = 0.0
    servo_damping: float = 0.0

    @property
    def line(self) -> str:
        """The line in the file, for remarks."""
        return line_of(self.place)

    @property
    def is_fixed(self) -> bool:
        """Whether the joint is a weld."""
        return self.kind == "weld"

    @property
    def is_servo(self) -> bool:
        """Whether its actuator follows a target."""
        return self.servo_stiffness > 0.0 or self.servo_damping > 0.0


@dataclass
class Robot:
    """Links and joints of a robot, and remarks on parts of its file that were left out.

    Attributes
    ----------
    name, place : str
    links : dict of str to Link
    joints : list of RobotJoint
        One for each link but the first, which has one with the parent `ROOT` where it moves.
    remarks : list of str
        A sentence for each thing that was left out or changed.
    frames : dict of str to (str, pose)
        Links that were merged into another one (`ROOT`: the world), and their poses on it.
    fixed_shapes : list of Shape
        Those of links that became part of the world.
    gravity : three reals, optional
        Where the file says it, m/s2.
    joins_world : bool
        Whether the file says how its bodies are joined to the world.
    """

    name: str
    place: str
    links: dict[str, Link] = field(default_factory=dict)
    joints: list[RobotJoint] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    frames: dict[str, tuple[str, Reals]] = field(default_factory=dict)
    fixed_shapes: list[Shape] = field(default_factory=list)
    gravity: Reals | None = None
    joins_world: bool = False

    def replace_joint(self, old: RobotJoint, **changes: object) -> None:
        """Put a changed joint in the place of another."""
        self.joints[self.joints.index(old)] = replace(old, **changes)  # type: ignore[arg-type]
