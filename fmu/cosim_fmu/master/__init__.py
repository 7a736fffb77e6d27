"""FMUs, systems of ours and Python objects, run together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import cosim.kit

# Late, because the process of an isolated FMU needs its participant alone.
if TYPE_CHECKING:
    from cosim_fmu.master.co_simulation import CoSimulation as CoSimulation
    from cosim_fmu.master.co_simulation_error import CoSimulationError as CoSimulationError
    from cosim_fmu.master.loop.co_simulation_statistics import (
        CoSimulationStatistics as CoSimulationStatistics,
    )
    from cosim_fmu.master.participants.fmu_participant import FmuParticipant as FmuParticipant
    from cosim_fmu.master.participants.process_participant import ProcessParticipant as ProcessParticipant
    from cosim_fmu.master.participants.system_participant import SystemParticipant as SystemParticipant
    from cosim_fmu.master.participants.timed_inputs import TimedInputs as TimedInputs
    from cosim_fmu.master.stop_requested import StopRequested as StopRequested
else:
    __getattr__, __dir__ = cosim.kit.late_names(__name__)
