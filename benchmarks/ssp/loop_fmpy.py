"""The coupling of train.toml as a loop in fmpy: all outputs go to all inputs, then each FMU makes a step."""

import sys
from pathlib import Path

import numpy as np
from fmpy import extract, read_model_description
from fmpy.fmi2 import FMU2Slave

STEP, STEPS = 0.01, 200
FMUS = {
    "wagon1": ("wagon.fmu", {"wagon.mass": 900.0}),
    "wagon2": ("wagon.fmu", {"wagon.mass": 1100.0}),
    "wagon3": ("wagon.fmu", {"wagon.mass": 1200.0}),
    "wagon4": ("wagon.fmu", {"wagon.mass": 800.0}),
    "control": ("control.fmu", {"law.target": 0.2}),
}
CONNECTIONS = [
    ("wagon1.wagon.x", "wagon2.wagon.x_left"),
    ("wagon2.wagon.x", "wagon1.wagon.x_right"),
    ("wagon1.wagon.v", "wagon2.wagon.v_left"),
    ("wagon2.wagon.v", "wagon1.wagon.v_right"),
    ("wagon2.wagon.x", "wagon3.wagon.x_left"),
    ("wagon3.wagon.x", "wagon2.wagon.x_right"),
    ("wagon2.wagon.v", "wagon3.wagon.v_left"),
    ("wagon3.wagon.v", "wagon2.wagon.v_right"),
    ("wagon3.wagon.x", "wagon4.wagon.x_left"),
    ("wagon4.wagon.x", "wagon3.wagon.x_right"),
    ("wagon3.wagon.v", "wagon4.wagon.v_left"),
    ("wagon4.wagon.v", "wagon3.wagon.v_right"),
    ("wagon1.wagon.x", "control.law.x1"),
    ("wagon1.wagon.v", "control.law.v1"),
    ("wagon2.wagon.x", "control.law.x2"),
    ("wagon2.wagon.v", "control.law.v2"),
    ("wagon3.wagon.x", "control.law.x3"),
    ("wagon3.wagon.v", "control.law.v3"),
    ("wagon4.wagon.x", "control.law.x4"),
    ("wagon4.wagon.v", "control.law.v4"),
    ("control.law.push_first", "wagon1.wagon.push"),
    ("control.law.push_last", "wagon4.wagon.push"),
]


def run(folder: Path) -> np.ndarray:
    """Times and the positions of the wagons, a row each."""
    slaves, references = {}, {}
    for name, (file, parameters) in FMUS.items():
        description = read_model_description(str(folder / file))
        references[name] = {v.name: v.valueReference for v in description.modelVariables}
        slaves[name] = slave = FMU2Slave(
            guid=description.guid,
            modelIdentifier=description.coSimulation.modelIdentifier,
            unzipDirectory=extract(str(folder / file)),
            instanceName=name,
        )
        slave.instantiate()
        slave.setupExperiment(startTime=0.0, stopTime=STEP * STEPS)
        for parameter, value in parameters.items():
            slave.setReal([references[name][parameter]], [value])
        slave.enterInitializationMode()

    def get(path: str) -> float:
        name, _, variable = path.partition(".")
        return slaves[name].getReal([references[name][variable]])[0]

    def exchange() -> None:
        values = [get(start) for start, _ in CONNECTIONS]
        for (_, end), value in zip(CONNECTIONS, values, strict=True):
            name, _, variable = end.partition(".")
            slaves[name].setReal([references[name][variable]], [value])

    exchange()
    for slave in slaves.values():
        slave.exitInitializationMode()
    rows = []
    for k in range(STEPS + 1):
        rows.append([k * STEP, *(get(f"wagon{i}.wagon.x") for i in range(1, 5))])
        exchange()
        if k < STEPS:
            for slave in slaves.values():
                slave.doStep(currentCommunicationPoint=k * STEP, communicationStepSize=STEP)
    for slave in slaves.values():
        slave.terminate()
        slave.freeInstance()
    return np.array(rows)


if __name__ == "__main__":
    np.savetxt(sys.stdout, run(Path(sys.argv[1])), delimiter=",")
