"""A ring of node.fmu in CoFMUPy: FMU count steps → JSON."""

import contextlib
import io
import json
import os
import sys
import tempfile
import time

path, count, steps = os.path.abspath(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
os.chdir(tempfile.mkdtemp())  # it writes a plot and results where it stands
with contextlib.redirect_stdout(io.StringIO()):
    from cofmupy import Coordinator

    names = [f"n{i}" for i in range(count)]
    configuration = {
        "fmus": [{"id": name, "name": name, "path": path} for name in names],
        "connections": [
            {
                "source": {"id": name, "variable": "y", "unit": ""},
                "target": {"id": names[(i + 1) % count], "variable": "u", "unit": ""},
            }
            for i, name in enumerate(names)
        ],
        "cosim_method": "jacobi",
        "iterative": False,
    }
    configuration["fmus"][0]["initialization"] = {"y": 2.0}
    coordinator = Coordinator()
    coordinator.start(configuration)
    begun = time.perf_counter()
    for _ in range(steps):
        coordinator.do_step(1e-3)
    seconds = time.perf_counter() - begun
    value = coordinator.get_results()["n0", "y"][-1]
print(json.dumps({"seconds": seconds, "value": float(value)}))
