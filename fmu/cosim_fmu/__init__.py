"""FMI 1.0, 2.0 and 3.0: systems exported as FMUs, and FMUs run together.

What users import. Beneath it `cosim_fmi` reads and binds FMUs, `cosim_master` runs participants together,
`cosim_ssp` reads and writes SSPs, and `cosim_export` writes an assembled system as an FMU; the master and the
exports do not use each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import cosim.kit

# Late, because who exports, and the process of an isolated FMU, never need the master.
if TYPE_CHECKING:
    from cosim_fmu.co_simulation import CoSimulation as CoSimulation
    from cosim_master.coupling.errors import CoSimulationError as CoSimulationError
    from cosim_master.coupling.errors import StopRequested as StopRequested
    from cosim_master.participants.fmu_participant import FmuParticipant as FmuParticipant
    from cosim_master.participants.process_participant import ProcessParticipant as ProcessParticipant
    from cosim_master.participants.system_participant import SystemParticipant as SystemParticipant
    from cosim_master.participants.timed_inputs import TimedInputs as TimedInputs
else:
    __getattr__, __dir__ = cosim.kit.late_names(__name__)
