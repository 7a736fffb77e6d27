"""A ring of node.fmu in libcosim (libcosimpy): FMU count steps → JSON."""

import json
import sys
import time

from libcosimpy.CosimExecution import CosimExecution
from libcosimpy.CosimLogging import CosimLogLevel, log_output_level
from libcosimpy.CosimObserver import CosimObserver
from libcosimpy.CosimSlave import CosimLocalSlave

path, count, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
log_output_level(CosimLogLevel.ERROR)
execution = CosimExecution.from_step_size(step_size=1_000_000)  # ns
slaves = [execution.add_local_slave(CosimLocalSlave(path, f"n{i}")) for i in range(count)]
for i in range(count):
    execution.connect_real_variables(slaves[i], 0, slaves[(i + 1) % count], 1)
execution.real_initial_value(slaves[0], 0, 2.0)
execution.step()
begun = time.perf_counter()
execution.step(step_count=steps - 2)
seconds = (time.perf_counter() - begun) * steps / (steps - 2)
observer = CosimObserver.create_last_value()
execution.add_observer(observer)
execution.step()
value = observer.last_real_values(slaves[0], [0])[0]
print(json.dumps({"seconds": seconds, "value": value}))
