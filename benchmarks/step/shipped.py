"""The cost of machine code for the plainest processor: ``python benchmarks/step/shipped.py``.

An engine on its mounts by several methods, with the code that came with the package and with what is
compiled for this processor; each in a process of its own, by turns. Needs a wheel of a release and
``examples/engine_mount/plugin``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

MODEL = Path(__file__).parents[2] / "examples" / "engine_mount" / "engine_mount.toml"
METHODS = (
    *("runge_kutta_merson", "dormand_prince", "dormand_prince_853", "heun", "velocity_verlet"),
    *("radau5", "bdf", "generalized_alpha"),
)
ACCURACY, FIXED_STEP = 1e-7, 1e-4  # s
BEGIN, END = 0.01, 0.2  # s
REPEATED, TURNS = 25, 3


def seconds() -> dict[str, float]:
    """CPU seconds of the fastest of several runs, by method."""
    import cosim

    system, least_times = cosim.Model.from_file(MODEL).build(), {}
    for name in METHODS:
        method = cosim.registry().get("integrator", f"integrators.{name}")
        options = {} if method.capabilities.adaptive else {"fixed_step": FIXED_STEP}
        times = []
        for _ in range(REPEATED):
            simulator = cosim.Simulator(system, integrator=method, accuracy=ACCURACY, **options)
            simulator.advance_to(BEGIN)
            began = time.process_time()
            simulator.advance_to(END)
            times.append(time.process_time() - began)
        least_times[name] = min(times)
    return least_times


def measured(without: str) -> dict[str, float]:
    """`seconds` of another process, with shipped code ("0") or without it ("1")."""
    environment = {**os.environ, "COSIM_NO_SHIPPED": without}
    command = [sys.executable, __file__, "--measure"]
    output = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout
    return dict(json.loads(output.splitlines()[-1]))


def main() -> None:
    """Print the table."""
    from cosim_compiler import shipped

    path = shipped.path_of(shipped.UNITS)
    if not path.exists():
        sys.exit(f"no shipped code at {path}: install a wheel that was built with COSIM_SHIP=1")
    turns = [(measured("0"), measured("1")) for _ in range(TURNS)]
    print(f"{'':20s} {'shipped, ms':>12s} {'here, ms':>12s} {'ratio':>6s}")
    for name in METHODS:
        came, here = (1e3 * min(turn[i][name] for turn in turns) for i in (0, 1))
        print(f"{name:20s} {came:12.2f} {here:12.2f} {came / here:6.2f}")


if __name__ == "__main__":
    if "--measure" in sys.argv:
        print(json.dumps(seconds()))
    else:
        main()
