"""Drawn couplings whose participants hide their states and run once, as many FMUs do."""

from __future__ import annotations

from dataclasses import replace

import drawn_systems
import known_couplings

from cosim import kit
from cosim_fmu import CoSimulation, SystemParticipant
from cosim_fmu.testing.linear_participant import LinearParticipant


class HiddenSystem(SystemParticipant):
    """A system that lists no states, and of which the master cannot make a second one."""

    def describe(self) -> kit.ParticipantDescription:
        """Without states."""
        return replace(super().describe(), states=())

    def repeated(self) -> None:
        """None: the master cannot make a second one, as it cannot of FMUs of other tools."""


class HiddenLinear(LinearParticipant):
    """A linear participant that describes inputs and outputs, and no states."""

    def describe(self) -> kit.ParticipantDescription:
        """Without states."""
        description = super().describe()
        shown = {*self.inputs, *self.outputs}
        assert description.feedthrough is not None
        return replace(
            description,
            variables={name: v for name, v in description.variables.items() if name in shown},
            feedthrough={name: direct for name, direct in description.feedthrough.items() if name in shown},
        )


def hidden_loop(case: known_couplings.KnownCoupling | drawn_systems.DrawnCoupling) -> CoSimulation:
    """The co-simulation of a case, with participants that hide their states."""
    loop = case.loop()
    parts = dict(loop.participants)
    for name, part in parts.items():
        if isinstance(part, SystemParticipant):
            parts[name] = HiddenSystem(part.system, accuracy=drawn_systems.ACCURACY)
        elif isinstance(part, LinearParticipant):
            matrices = part.a, part.b, part.c, part.d
            parts[name] = HiddenLinear(matrices, part.inputs, part.outputs, part.start, part.follows)
    links = [(f"{link.source}.{link.output}", f"{link.target}.{link.input}") for link in loop.links]
    return CoSimulation(parts, links, case.algorithm, case.step, options=case.options)
