"""Contract kits of participants and master algorithms.

They are here and not in a package below because their checks run a co-simulation.
"""

from __future__ import annotations

from cosim_workbench.contracts import ContractKit


class ParticipantKit(ContractKit):
    """The checks of participants."""

    kind = "participant"
    kit = "cosim_fmu.testing.participant_contract:ParticipantContract"


class MasterAlgorithmKit(ContractKit):
    """The checks of master algorithms."""

    kind = "master_algorithm"
    kit = "cosim_fmu.testing.master_algorithm_contract:MasterAlgorithmContract"
