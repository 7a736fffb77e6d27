"""The registrations of this package."""

from __future__ import annotations

import cosim
from cosim_ensembles.batch_ensemble import BatchEnsemble

cosim_contract = "1.0"


@cosim.hookimpl
def cosim_register(register: cosim.Register) -> None:
    register("ensembles.batch", BatchEnsemble)
