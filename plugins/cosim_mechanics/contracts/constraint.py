"""The contract of constraints, which hold bodies and coordinates together beside the joints of the tree."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from cosim import (
    Component,
    ContractError,
    LookUpError,
    Stage,
    State,
    cache_slot,
    option,
    parameter,
    plugin_kind,
)
from cosim.kit import Declaration

LEVELS = ("position", "velocity", "acceleration")
RESULTS = ("multipliers", "position_error", "velocity_error")
REDUNDANT = (
    "some of its equations repeat what others say already: they are solved in least squares, and the "
    "multipliers are those with the smallest sum of squares among many that are possible"
)
SINGULAR = (
    "near a singular position: it hardly holds a motion that it holds elsewhere (the rank of its equations "
    "drops), and branches of the motion meet. The motion goes on as speeds and forces say; one that comes to "
    "rest here may go on along either branch"
)
DRIFTS = (
    "it has no position_error, so its positions are not corrected after a step and drift as the integration "
    "errs: add a kernel function position_error(…) that says how far it is from being met"
)


def _provides(declaration: Declaration) -> str:
    return declaration.options.get("provides", "") if declaration.kind == "attachment" else ""


@plugin_kind("constraint")
class Constraint(Component):
    """A condition on the motion that the tree of joints does not hold by itself.

    A subclass declares its attachments (`body`, `coordinate`, `cosim.source`), its parameters and the number
    of its equations, and writes them for the accelerations as s-vals. The Jacobian, the constraint forces and
    the multipliers follow. To keep positions from drifting it has a kernel function that writes
    ``position_error``; if the condition depends on time, also one that writes ``velocity_error`` (by default
    the Jacobian times the speeds).

    Law: each equation is ``G u_dot + b = 0``; the system is ``M u_dot + V + G^T multipliers = T``. The
    equation must be the second time derivative of `position_error` and the first one of `velocity_error`.

    Attributes
    ----------
    equations : int
        Class attribute: the number of equations.
    level : str
        Class attribute: "position" (positions, speeds and accelerations are constrained), "velocity" (for a
        condition on speeds that is not the derivative of one on positions: rolling) or "acceleration"; or a
        tuple with one of these for each equation.
    drives : bool
        Class attribute: whether it may do work, since it depends on time or prescribes speeds other than 0.
    enabled : parameter
        1 or 0 (True or False) in each State: 0 releases the constraint.
    stabilization : parameter, 1/s
        Rate s at which forces reduce errors: 2 s times the velocity error and s^2 times the position error
        are added to the equation. 0: errors are reduced only by the projection after each step.
    projected : option
        Whether positions and speeds are corrected after each step.
    multipliers, position_error, velocity_error : cache slots, shape (equations,)
    force_on_<attachment> : cache slots
        The constraint force: on a body six reals (moment about its origin, force, in Ground), on a coordinate
        one.
    redundant, singular, drifts : cache slots
        Notices, 1 if an equation follows from others, if the position is nearly singular, so that an equation
        soon will, and if positions cannot be corrected.

    Raises
    ------
    ContractError
        For a subclass with an impossible number of equations or level.

    Examples
    --------
    >>> import cosim, cosim_mechanics
    >>> class Gear(cosim_mechanics.Constraint):
    ...     '''Two coordinates whose rates keep a fixed ratio: u2 = ratio * u1.'''
    ...     coordinate1 = cosim_mechanics.coordinate()
    ...     coordinate2 = cosim_mechanics.coordinate()
    ...     ratio = cosim.parameter(unit="1")
    ...     level = "velocity"
    ...     def create_constraint_equations(self, s):
    ...         a1, a2 = s.acceleration(self.coordinate1), s.acceleration(self.coordinate2)
    ...         return [a2 - self.ratio * a1]
    >>> Gear.declarations["multipliers"].shape
    (1,)
    """

    contract_kit: ClassVar[str] = "cosim_mechanics.testing.constraint_contract:ConstraintContract"

    equations: ClassVar[int] = 1
    level: ClassVar[str | tuple[str, ...]] = "position"
    drives: ClassVar[bool] = False
    switch: ClassVar[str] = "enabled"
    plain_methods: ClassVar[tuple[str, ...]] = ("position_error", "velocity_error")

    enabled = parameter(default=True, dtype=bool, description="0 lets go")
    stabilization = parameter(
        unit="1/s", default=0.0, minimum=0.0, description="rate at which errors are drawn back; 0: not at all"
    )
    projected = option(True, description="positions and speeds are corrected after each step")
    multipliers = cache_slot(description="of each equation, in M u_dot + V + G^T multipliers = T")
    position_error = cache_slot(description="how far positions are from meeting it")
    velocity_error = cache_slot(description="how far speeds are from meeting it")
    redundant = cache_slot(notice=REDUNDANT, description="1 where an equation follows from others")
    singular = cache_slot(notice=SINGULAR, description="1 near a singular position")
    drifts = cache_slot(notice=DRIFTS, description="1 where positions cannot be corrected")

    def create_constraint_equations(self, s: Any) -> list[Any]:
        """The equations for the accelerations: a list of s-vals, each of which must be zero.

        It is called once with symbols, so it may not branch on values; the rules are those of
        `Joint.create_equations`.

        Parameters
        ----------
        s : the quantities for equations
            ``s.acceleration(self.coordinate1)`` is an s-val, ``s.point_acceleration(self.body1, point)`` and
            ``s.angular_acceleration(self.body1)`` are vectors of three s-vals in Ground, the point given in
            the body's frame. Known quantities: ``s.coordinate(c)``, ``s.speed(c)``, ``s.rotation(b)`` (R_GB,
            3 by 3), ``s.position(b, point)``, ``s.velocity(b, point)``, ``s.angular_velocity(b)``,
            ``s.source(self.source, order)`` (a signal or its derivative), ``s.time``. ``self.<parameter>`` is
            a number of this constraint.

        Returns
        -------
        list of `equations` s-vals
        """
        raise ContractError(self.missing_law())

    @classmethod
    def missing_law(cls) -> str:
        """An error message if the class has no equations; else empty."""
        if cls.create_constraint_equations is not Constraint.create_constraint_equations:
            return ""
        return f"constraint {cls.__name__} has no create_constraint_equations(self, s)"

    def calc_equations(self, state: State) -> list[Any]:
        """The equations with the numbers of a State: `create_constraint_equations` called with numbers.

        This is for debugging: it is called as plain Python, so a breakpoint or a ``print`` in it shows
        numbers.

        Parameters
        ----------
        state : State
            It is realized to VELOCITY if necessary.

        Returns
        -------
        list of s-vals
            ``equation.row(nu)`` is the row of the Jacobian G, ``equation.bias`` its constant b,
            ``equation.evaluate(udot)`` the acceleration of the constraint; over the speeds of ``state.u``.

        Raises
        ------
        LookUpError
            When the constraint is not part of the State's system.
        """
        parts = state.system.parts
        if type(parts.get(self.name)) is not type(self) or state.system.solver is None:
            raise LookUpError("part of this State's system", self.name or repr(self), parts)
        state.realize(Stage.VELOCITY)
        solver: Any = state.system.solver
        equations: list[Any] = solver.constraint_equations(self, state)
        return equations

    @classmethod
    def _collect(cls) -> None:
        super()._collect()
        if not isinstance(cls.equations, int) or cls.equations < 1:
            raise ContractError(f"constraint {cls.__name__}: equations is {cls.equations!r}, needs 1, 2, 3 …")
        if len(cls.levels()) != cls.equations or not set(cls.levels()) <= set(LEVELS):
            raise ContractError(
                f"constraint {cls.__name__}: level is {cls.level!r}, needs one of {LEVELS}, or one of "
                "these for each equation"
            )
        for name in RESULTS:
            declaration = cls.declarations[name]
            cls.declarations[name] = replace(declaration, shape=(cls.equations,))
        for name, declaration in list(cls.declarations.items()):
            size = {"body": 6, "coordinate": 1}.get(_provides(declaration))
            if size is not None:
                slot = cache_slot(shape=size, description=f"what the constraint exerts on {name}")
                cls.declarations[f"force_on_{name}"] = slot.named(f"force_on_{name}")

    @classmethod
    def levels(cls) -> tuple[str, ...]:
        """The level of each equation."""
        return (cls.level,) * cls.equations if isinstance(cls.level, str) else cls.level

    @classmethod
    def writes(cls, name: str) -> bool:
        """Whether a kernel function of the class writes a slot."""
        return any(
            a.name == name and a.effect == "write" for arguments in cls.arguments.values() for a in arguments
        )
