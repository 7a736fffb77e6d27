"""jitcdde: the Mackey-Glass equation, compiled from C; compiling and loading are not counted."""

import importlib.metadata
import json
import os
import sys
import tempfile
import time

from jitcdde import UnsuccessfulIntegration, jitcdde, t, y

task = json.loads(sys.argv[1])
past = y(0, t - task["delay"])
law = [2.0 * past / (1.0 + past ** task["power"]) - y(0)]


def seconds_and_end(module, tolerance, way):
    """CPU time of the integration, s, and the value at its end.

    `module` is the compiled law, `way` how jitcdde treats the kink that the start makes in the derivative.
    """
    solver = jitcdde(law, module_location=module, verbose=False)
    solver.constant_past([task["start"]])
    solver.set_integration_parameters(rtol=tolerance, atol=tolerance, first_step=0.1)
    solver._initiate()  # loads the module
    began = time.process_time()
    if way == "steps on breaks":
        solver.step_on_discontinuities(propagations=3)
    else:
        solver.adjust_diff()
    value = solver.integrate(task["until"])[0]
    return time.process_time() - began, float(value)


def main():
    """Print the runs with each way at each tolerance that succeeded."""
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # the compiler's helpers read any pyproject.toml around them
        solver = jitcdde(law, verbose=False)
        solver.compile_C()
        module = solver.save_compiled(os.path.join(folder, "law.so"))
        for way in ("steps on breaks", "smoothed start"):
            for tolerance in task["tolerances"]:
                try:
                    seconds, end = min(seconds_and_end(module, tolerance, way) for _ in range(task["runs"]))
                except UnsuccessfulIntegration as error:
                    print(f"{way}, {tolerance:.0e}: {error}", file=sys.stderr)
                    continue
                runs.append({"method": way, "tolerance": tolerance, "seconds": seconds, "end": [end]})
    print(json.dumps({"name": f"jitcdde {importlib.metadata.version('jitcdde')}", "runs": runs}))


main()
