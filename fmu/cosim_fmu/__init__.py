"""FMI 1.0, 2.0 and 3.0: systems exported as FMUs, and FMUs run together.

`cosim_fmu.export` and `cosim_fmu.native` write an assembled system as an FMU; `cosim_fmu.master` runs FMUs
and other participants together. Neither side uses the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import cosim.kit

# Late, too, because an exported FMU never needs the master.
if TYPE_CHECKING:
    from cosim_fmu.master import CoSimulation as CoSimulation
    from cosim_fmu.master import CoSimulationError as CoSimulationError
    from cosim_fmu.master import FmuParticipant as FmuParticipant
    from cosim_fmu.master import ProcessParticipant as ProcessParticipant
    from cosim_fmu.master import StopRequested as StopRequested
    from cosim_fmu.master import SystemParticipant as SystemParticipant
    from cosim_fmu.master import TimedInputs as TimedInputs
else:
    __getattr__, __dir__ = cosim.kit.late_names(__name__)
