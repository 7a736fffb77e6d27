"""The contract of joints: what the dynamics of a tree needs from them."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from cosim import Component, ContractError, cache_slot, kernel, plugin_kind
from cosim.kit import Declaration, Solver, unit_product
from cosim_mechanics.contracts.body_attachment import body
from cosim_mechanics.contracts.dynamics_solver import DynamicsSolver
from cosim_mechanics.spatial import NO_POSE, POSE_UNITS, is_pose, pose_parameter

EFFORTS = {"rad/s": "N.m", "m/s": "N"}
INERTIAS = {"rad/s": "kg.m2", "m/s": "kg"}


@plugin_kind("joint")
class Joint(Component):
    """Connects a child body to its parent and defines its motion: one joint for each body of a tree.

    Bodies and joints form a tree on Ground. Parent and child define the meaning of the coordinates; if Ground
    is on the side of the child, the solver exchanges F and M internally, for every kind of joint.

    A joint is between a frame F fixed on the parent and a frame M fixed on the child. A subclass declares its
    coordinates and speeds and has two kernel functions:

    - ``across(q, X_FM, H_FM)``, at stage POSITION: the pose of M in F, and the map from speeds to velocity;
    - ``rates(q, u, q_dot, HDotU_FM)``, at stage VELOCITY: the derivatives of the coordinates, and the
      velocity terms of the acceleration.

    The equations of motion follow from these.

    Law: ``V_FM = H_FM u`` is the spatial velocity of M in F, of M's origin, expressed in F;
    ``A_FM = H_FM du/dt + HDotU_FM`` with ``HDotU_FM = (dH_FM/dt) u``, the derivative taken in F.

    Attributes
    ----------
    parent, child : attachment
        The bodies. Joints must not form loops: constraints close these.
    frame_on_parent : parameter, shape (12,)
        X_PF, the pose of F on the parent, by default the parent's own frame.
    frame_on_child : parameter, shape (12,)
        X_BM, the pose of M on the child, by default the child's own frame.
    q : position, shape nq
        Declared by the subclass: ``q = cosim.position(unit="rad", shape=1)``. A joint without motion has
        none.
    u : speed, shape nu
        Declared by the subclass: ``u = cosim.speed(unit="rad/s", shape=1)``; nu may be less than nq.
    X_FM : cache slot, shape (12,)
        Pose of M in F: rotation by rows, then the position expressed in F, m. Written by ``across``.
    H_FM : cache slot, shape (6 nu,)
        Column after column, each the velocity (angular, then linear) for one unit speed, in F. Written by
        ``across``.
    HDotU_FM : cache slot, shape (6,)
        Written by ``rates``.
    tau : accumulator, shape (nu,)
        Generalized forces on the speeds; force elements add to them.
    added_inertia : accumulator, shape (nu,), kg.m2 or kg
        Inertias that force elements add to the diagonal of the mass matrix: rotors behind gears. They enter
        the equations after `create_equations`.
    nq, nu : int
        Class attributes: number of coordinates and of speeds.
    axes : tuple of int, or None
        Class attribute, if each speed is an element of V_FM for all q: the indices of these elements (0 to 2
        turn about an axis of F, 3 to 5 shift along one). H_FM then has ones at these places, HDotU_FM is
        zero, and evaluations take less time.
    quaternions : tuple of int
        Class attribute: the indices in q at which quaternions begin; their length is kept at 1.

    Raises
    ------
    ContractError
        A subclass has kernel functions that do not write all results.

    Examples
    --------
    >>> import cosim, cosim_mechanics
    >>> class Lift(cosim_mechanics.Joint):
    ...     '''Translation along the y axis of F.'''
    ...     q = cosim.position(unit="m", shape=1)
    ...     u = cosim.speed(unit="m/s", shape=1)
    >>> Lift.nq, Lift.nu, Lift.declarations["H_FM"].shape
    (1, 1, (6,))
    """

    contract_kit: ClassVar[str] = "cosim_mechanics.testing.joint_contract:JointContract"

    parent = body(description="the body that carries frame F")
    child = body(description="the body that carries frame M; this joint moves it")
    frame_on_parent = pose_parameter("X_PF, pose of F on the parent")
    frame_on_child = pose_parameter("X_BM, pose of M on the child")
    X_FM = cache_slot(unit=POSE_UNITS, shape=12, description="pose of M in F")

    solved_by: ClassVar[type[Solver] | None] = DynamicsSolver
    nq = 0
    nu = 0
    axes: ClassVar[tuple[int, ...] | None] = None
    quaternions: ClassVar[tuple[int, ...]] = ()

    @kernel(refuses=[NO_POSE])
    def frames(frame_on_parent, frame_on_child):
        return 0.0 if is_pose(frame_on_parent) and is_pose(frame_on_child) else 1.0

    def __init_subclass__(cls, **options: Any) -> None:
        cls.nq, cls.nu = _size(cls, "q"), _size(cls, "u")
        # These shapes follow from the number of speeds, so they are declared on behalf of the subclass.
        cls.H_FM = cache_slot(shape=6 * cls.nu, description="map from u to V_FM, column after column, in F")
        cls.HDotU_FM = cache_slot(shape=6, description="(dH_FM/dt) u, in F")
        speeds = vars(cls).get("u", getattr(cls, "u", None))
        units = [_effort(speeds.unit(i)) for i in range(cls.nu)] or "1"
        cls.tau = cache_slot(units, cls.nu, accumulates=True, description="generalized forces on u")
        units = [_inertia(speeds.unit(i)) for i in range(cls.nu)] or "1"
        cls.added_inertia = cache_slot(
            units, cls.nu, accumulates=True, internal=True, description="inertia of rotors on u"
        )
        super().__init_subclass__(**options)

    @classmethod
    def check_law(cls) -> None:
        """Refuse a joint whose axes contradict its functions, or whose functions do not write all results."""
        cls._check_axes()
        if set(cls.kernels) > {"frames"}:
            cls._check_results()

    @classmethod
    def missing_law(cls) -> str:
        """An error message if no function of the class writes the pose of the child; else empty."""
        if set(cls.kernels) > {"frames"}:
            return ""
        return f"joint {cls.__name__} has no kernel function across(q, X_FM, H_FM) that writes X_FM"

    @classmethod
    def _check_axes(cls) -> None:
        """Clear inherited `axes` if functions are overridden; compare declared ones with `across`, twice."""
        if "axes" not in vars(cls) and ({*cls.kernels, "across", "rates"} - {"frames"}) & set(vars(cls)):
            cls.axes = None
        if cls.axes is None:
            return
        if len(cls.axes) != cls.nu or not set(cls.axes) <= set(range(6)):
            raise ContractError(
                f"joint {cls.__name__}: axes = {cls.axes!r}, needs {cls.nu} numbers from 0 to 5, one "
                "for each speed: 0 to 2 turn about x, y, z of F, 3 to 5 shift along them; omit axes if H_FM "
                "depends on q"
            )
        kernel = cls.kernels.get("across")
        if kernel is None or kernel.is_python or {*kernel.arguments} != {"q", "X_FM", "H_FM"}:
            return  # for functions of further arguments the contract kit compares them
        expected = np.eye(6)[list(cls.axes)].reshape(-1)
        for q in (0.0, 0.3):
            H_FM = np.full(6 * cls.nu, np.nan)
            try:
                kernel.call_by_name(q=np.full(cls.nq, q), X_FM=np.zeros(12), H_FM=H_FM)
            except (ArithmeticError, ValueError):
                continue  # a pose that the joint does not have
            if not np.array_equal(H_FM, expected):
                raise ContractError(
                    f"joint {cls.__name__}: axes = {cls.axes!r}, but across writes H_FM = {H_FM.tolist()} at "
                    f"q = {q:g}; correct one of them, or omit axes"
                )

    @classmethod
    def _check_results(cls) -> None:
        results = ["X_FM"] + (["H_FM", "HDotU_FM"] if cls.nu else []) + (["q_dot"] if cls.nq else [])
        written = {a.name for arguments in cls.arguments.values() for a in arguments if a.effect == "write"}
        missing = [name for name in results if name not in written]
        if missing:
            raise ContractError(
                f"joint {cls.__name__}: no kernel function writes {', '.join(missing)}; a joint writes "
                "X_FM and H_FM in across(q, X_FM, H_FM), q_dot and HDotU_FM in rates(q, u, q_dot, HDotU_FM)"
            )

    def create_equations(self, s: Any) -> list[Any]:
        """The equations of the free motion: the transmitted force does no work except that of ``tau``.

        Parameters
        ----------
        s : the equations of motion of the system
            ``s.wrench(self)`` is the spatial force that the joint transmits from parent to child, about M's
            origin, expressed in F: six s-vals, moment first. ``s.acceleration(self, i)`` is du_i/dt as an
            s-val. ``s.value(name, i)`` is element i of a slot of this joint.

        Returns
        -------
        list of nu s-vals
            Each is zero: ``(H_FM^T wrench)_i - tau_i``. A joint with an inertia, a motor or friction
            overrides this.
        """
        wrench = s.wrench(self)
        return [
            sum((s.value("H_FM", 6 * i + j) * wrench[j] for j in range(6)), start=-s.value("tau", i))
            for i in range(self.nu)
        ]


def _effort(speed: str) -> str:
    """The unit of a generalized force: its product with the speed is a power."""
    return EFFORTS.get(speed) or unit_product(("W",), (speed,))


def _inertia(speed: str) -> str:
    """The unit of an inertia: its product with the square of the speed is an energy."""
    return INERTIAS.get(speed) or unit_product(("J",), (speed, speed))


def _size(cls: type, name: str) -> int:
    declaration = getattr(cls, name, None)
    if not isinstance(declaration, Declaration):
        return 0
    if len(declaration.shape) != 1:
        raise ContractError(
            f"joint {cls.__name__}: {name} has shape {declaration.shape}, needs shape=1, 2 …: "
            "its functions read it as an array view"
        )
    return declaration.size
