"""The contract of elements that exert forces on bodies or on coordinates."""

from __future__ import annotations

from typing import ClassVar

from cosim import Component, LookUpError, Stage, State, parameter, plugin_kind
from cosim_mechanics.contracts.force_contribution import ForceContribution, force_contribution
from cosim_mechanics.contracts.law import Law


@plugin_kind("force_element")
class Force(Component):
    """Base of everything that exerts forces: on bodies (``F_GB``) or on coordinates of joints (``tau``).

    A subclass declares its attachments (`body`, `coordinate`) and has a kernel function that adds to their
    forces. The energy balance finds stored, dissipated and supplied energy under these names: a cache slot
    ``potential_energy`` and auxiliary states ``dissipated_energy`` and ``supplied_energy``, all in J.

    Attributes
    ----------
    enabled : parameter
        1 or 0 (True or False) in each State. An element that is off contributes nothing: its slots are 0 and
        its states are constant.
    laws : Law
        The laws that a subclass claims to obey; the contract kit tests them.
    """

    contract_kit: ClassVar[str] = "cosim_mechanics.testing.force_element_contract:ForceElementContract"

    plain_methods: ClassVar[tuple[str, ...]] = ("energy", "force")
    switch: ClassVar[str] = "enabled"
    laws: ClassVar[Law] = Law.NONE

    enabled = parameter(default=True, dtype=bool, description="0 turns the element off")

    @classmethod
    def missing_law(cls) -> str:
        """An error message if no function of the class adds to the forces of its attachments; else empty."""
        offered = [a for arguments in cls.arguments.values() for a in arguments if a.role == "offered"]
        if any(map(cls.may_write, offered)):
            return ""
        return (
            f"{cls.__name__} exerts no force: give it a kernel function force(…) that asks for F_GB of a "
            "body or for tau of a coordinate and adds to it"
        )

    def force_contribution(self, state: State) -> ForceContribution:
        """The forces of this element alone on all bodies and coordinates.

        Parameters
        ----------
        state : State
            It is realized as far as necessary.

        Returns
        -------
        ForceContribution

        Raises
        ------
        LookUpError
            When the element is not part of the State's system.
        """
        self._require_part_of(state)
        return force_contribution(state, self.name)

    def potential_energy_contribution(self, state: State) -> float:
        """The potential energy of this element alone, J; 0 if it stores none.

        Parameters
        ----------
        state : State
            It is realized as far as necessary.
        """
        self._require_part_of(state)
        if "potential_energy" not in self.declarations:
            return 0.0
        path = f"{self.name}.potential_energy"
        state.realize(max(Stage.POSITION, state.system.variables[path].stage))
        return float(state[path])

    def _require_part_of(self, state: State) -> None:
        parts = state.system.parts
        if type(parts.get(self.name)) is not type(self):
            raise LookUpError("part of this State's system", self.name or repr(self), parts)
