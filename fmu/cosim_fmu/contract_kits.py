"""The kits of what takes part in co-simulations: the checks run one, so they lie here."""

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
