"""An FMU in libcosim (libcosimpy): FMU PACKAGES steps size-in-ns input value output… (references) → JSON.

PACKAGES is a folder with what the FMU imports and this environment lacks.
"""

import json
import sys

from libcosimpy.CosimExecution import CosimExecution
from libcosimpy.CosimLogging import CosimLogLevel, log_output_level
from libcosimpy.CosimObserver import CosimObserver
from libcosimpy.CosimSlave import CosimLocalSlave

path, steps, size, target, value = (
    sys.argv[1],
    int(sys.argv[3]),
    int(sys.argv[4]),
    int(sys.argv[5]),
    sys.argv[6],
)
sys.path.append(sys.argv[2])
outputs = [int(word) for word in sys.argv[7:]]
log_output_level(CosimLogLevel.ERROR)
execution = CosimExecution.from_step_size(step_size=size)
slave = execution.add_local_slave(CosimLocalSlave(path, "one"))
observer = CosimObserver.create_last_value()
execution.add_observer(observer)
execution.real_initial_value(slave, target, float(value))
rows = []
for _ in range(steps):
    execution.step()
    rows.append(list(observer.last_real_values(slave, outputs)))
print()
print(json.dumps({"rows": rows}))
