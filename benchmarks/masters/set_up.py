"""The time from an FMU to its first step, and to its end: in cosim and in fmpy.

    python benchmarks/masters/set_up.py [COUNT]

COUNT instances of one file, and of as many files (copies), each as a user would write it: from the path of
the file to the end of initialization mode, then freed. Processor time of this process for each FMU, the least
of five rounds that take turns.
"""

import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import process_time

import fmpy
from fmpy.fmi2 import FMU2Slave
from node_fmu import make_node

from cosim_fmu import FmuParticipant

ROUNDS = 5


def ours(paths: list[Path]) -> None:
    """Prepare FMUs as participants."""
    parts = [FmuParticipant(path, f"p{i}") for i, path in enumerate(paths)]
    for part in parts:
        part.initialize(0.0, 1.0, {})
        part.exit_initialization()
    for part in parts:
        part.close()


def theirs(paths: list[Path]) -> None:
    """Prepare FMUs as fmpy's documentation shows; each file is read and extracted once."""
    opened, slaves = {}, []
    for i, path in enumerate(paths):
        if path not in opened:
            opened[path] = fmpy.read_model_description(str(path), validate=False), fmpy.extract(str(path))
        description, folder = opened[path]
        slave = FMU2Slave(
            guid=description.guid,
            unzipDirectory=folder,
            modelIdentifier=description.coSimulation.modelIdentifier,
            instanceName=f"p{i}",
        )
        slave.instantiate()
        slave.setupExperiment(startTime=0.0)
        slave.enterInitializationMode()
        slave.exitInitializationMode()
        slaves.append(slave)
    for slave in slaves:
        slave.terminate()
        slave.freeInstance()
    for _, folder in opened.values():
        shutil.rmtree(folder)


def main() -> None:
    """Print a table."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    with tempfile.TemporaryDirectory() as folder:
        node = make_node(Path(folder))
        copies = [Path(shutil.copy(node, Path(folder) / f"node{i}.fmu")) for i in range(count)]
        print(f"{'':<22}{'ours':>10}{'fmpy':>10}   ms for each of {count}")
        for name, paths in (("one file", [node] * count), ("as many files", copies)):
            seconds = [[_measure(run, paths) for run in (ours, theirs)] for _ in range(ROUNDS)]
            row = "".join(f"{1e3 * min(times) / count:>10.2f}" for times in zip(*seconds, strict=True))
            print(f"{name:<22}{row}")


def _measure(run: Callable[[list[Path]], None], paths: list[Path]) -> float:
    """The processor time of a run, s."""
    for path in {*paths}:
        path.touch()  # else a file that was read before is not read again
    begun = process_time()
    run(paths)
    return process_time() - begun


if __name__ == "__main__":
    main()
