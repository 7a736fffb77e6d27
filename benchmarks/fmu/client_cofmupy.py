"""An FMU in CoFMUPy: FMU PACKAGES steps size-in-s input value output… (names) → JSON.

PACKAGES is a folder with what the FMU imports and this environment lacks.
"""

import contextlib
import io
import json
import os
import sys
import tempfile

path, steps, size, target, value = (
    os.path.abspath(sys.argv[1]),
    int(sys.argv[3]),
    float(sys.argv[4]),
    *sys.argv[5:7],
)
outputs = sys.argv[7:]
sys.path.append(sys.argv[2])
os.chdir(tempfile.mkdtemp())  # it writes a plot and results where it stands
with contextlib.redirect_stdout(io.StringIO()):
    from cofmupy import Coordinator

    one = {"id": "one", "name": "one", "path": path, "initialization": {target: float(value)}}
    coordinator = Coordinator()
    coordinator.start({"fmus": [one], "connections": [], "cosim_method": "jacobi", "iterative": False})
    for _ in range(steps):
        coordinator.do_step(size)
    results = coordinator.get_results()
rows = [[float(results["one", name][i]) for name in outputs] for i in range(-steps, 0)]
print(json.dumps({"rows": rows}))
