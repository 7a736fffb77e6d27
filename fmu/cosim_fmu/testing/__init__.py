"""The contract kit of co-simulation: checks for authors of participants and master algorithms.

A test file begins with a subclass that says how the thing is made; pytest runs all checks of its kind on it::

    from cosim_fmu.testing import ParticipantContract

    class TestHeater(ParticipantContract):
        make = staticmethod(lambda: Heater(power=2000.0))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cosim.testing.kit_names import kit_names

if TYPE_CHECKING:
    from cosim_fmu.testing.linear_participant import LinearParticipant as LinearParticipant
    from cosim_fmu.testing.master_algorithm_contract import MasterAlgorithmContract as MasterAlgorithmContract
    from cosim_fmu.testing.participant_contract import ParticipantContract as ParticipantContract
else:
    __getattr__, __dir__ = kit_names(__name__)
