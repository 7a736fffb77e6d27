"""An instance of the kind that the job asks for."""

from __future__ import annotations

from collections.abc import Callable

from cosim_fmu.validate.foreign_fmu import ForeignFmu
from cosim_fmu.validate.foreign_instance import ForeignInstance
from cosim_fmu.validate.foreign_instance_2 import ForeignModel2, ForeignSlave2
from cosim_fmu.validate.foreign_instance_3 import ForeignModel3, ForeignSlave3

KINDS: dict[tuple[str, str], Callable[[ForeignFmu, str], ForeignInstance]] = {
    ("2.0", "CoSimulation"): ForeignSlave2,
    ("2.0", "ModelExchange"): ForeignModel2,
    ("3.0", "CoSimulation"): ForeignSlave3,
    ("3.0", "ModelExchange"): ForeignModel3,
}


def new_instance(fmu: ForeignFmu, name: str = "instance") -> ForeignInstance:
    """Instantiate; `FailedCallError` when the FMU refuses."""
    return KINDS[fmu.job["version"], fmu.job["interface"]](fmu, name)
