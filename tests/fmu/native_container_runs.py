"""Co-simulations that are exported as FMUs without Python, and instances of these FMUs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import fmpy
from ball_and_clockwork import CROSSED_WIRES, METHOD, Ball, Clockwork, model_of
from controlled_spring import WIRES, controller, plant
from export_tools import unpack
from native_tools import COMPILER

import cosim
from cosim_export.native.native_exporter import NativeFmuOptions
from cosim_fmu import CoSimulation, SystemParticipant
from cosim_fmu.container.container_interface import container_interface
from cosim_fmu.container.write_container import write_native_container
from cosim_master.coupling.run_settings import RunOptions

ALGORITHMS: dict[str, dict[str, Any]] = {
    "jacobi": {},
    "gauss_seidel": {"extrapolation": 1},
    "jacobi along parabolas": {"extrapolation": 2},
    "adaptive": {"tolerance": 1e-3},
    "interface_newton": {},
    "waveform_iteration": {},
}


class PassThrough(cosim.Component):
    """Passes its input on directly, with a gain and a slow state."""

    seen = cosim.input()
    gain = cosim.parameter(default=0.5)
    slow = cosim.auxiliary_state()
    out = cosim.output()

    @cosim.kernel
    def pass_on(seen, gain, slow, slow_dot, out):
        out[0] = gain * seen + 1.0 + slow
        slow_dot[0] = 1.0 - slow


def ring(gain: float) -> CoSimulation:
    """Two of `PassThrough` in an algebraic loop, which is iterated in each step."""
    parts = {name: SystemParticipant(model_of(PassThrough)) for name in ("one", "two")}
    wires = [("one.part.out", "two.part.seen"), ("two.part.out", "one.part.seen")]
    starts = {"one.part.gain": gain, "two.part.gain": gain}
    return record_all(CoSimulation(parts, wires, "gauss_seidel", 0.1, starts=starts))


def ball_and_clockwork(algorithm: str = "gauss_seidel", **options: Any) -> CoSimulation:
    """A bouncing ball with a delay, and a clockwork with events of all kinds; each feeds the other."""
    ball = model_of(Ball)
    ball.add("measures.delay", "late", source="part.speed", delay=0.15)
    parts = {
        "ball": SystemParticipant(ball, METHOD, accuracy=1e-6, maximum_step=5e-3),
        "clock": SystemParticipant(model_of(Clockwork), METHOD),
    }
    name, algorithm_options = algorithm.partition(" ")[0], ALGORITHMS.get(algorithm, {})
    loop = CoSimulation(parts, CROSSED_WIRES, name, 1e-2, options=algorithm_options, **options)
    return record_all(loop)


def spring_and_controller() -> tuple[dict[str, Any], list[Any]]:
    """The participants plant and controller, and their connections."""
    return {"plant": SystemParticipant(plant()), "controller": SystemParticipant(controller())}, WIRES


def coupled_spring() -> CoSimulation:
    return record_all(CoSimulation(*spring_and_controller(), "gauss_seidel", 0.1))


def record_all(loop: CoSimulation) -> CoSimulation:
    """Let a co-simulation record all its variables except text and the history of the delay."""
    names = [
        f"{n}.{v}" for n, d in loop.descriptions.items() for v, x in d.variables.items() if x.type != "string"
    ]
    loop._set(run_options=RunOptions(record=[name for name in names if ".late." not in name]))
    return loop


def export(loop: CoSimulation, folder: Path, **options: Any) -> Path:
    """``whole.fmu`` of a co-simulation, without Python."""
    interface, _ = container_interface(loop, folder / "whole.toml")
    target = folder / "whole.fmu"
    options = options if "sources" in options else {"compiler": COMPILER, **options}
    write_native_container(loop, interface, target, NativeFmuOptions.of(options))
    return target


def check_bits(loop: CoSimulation, fmu: Path, until: float) -> int:
    """Compare the FMU in fmpy with the co-simulation; the number of variables that change."""
    expected = loop.simulate(until, inside="nothing", record=loop.run_options.record)
    description = fmpy.read_model_description(str(fmu), validate=True)
    names = [
        v.name
        for v in description.modelVariables
        if v.causality in ("output", "local") and not v.name.startswith("coupling.")
    ]
    settings = {"stop_time": until, "output_interval": loop.step, "output": names}
    result = fmpy.simulate_fmu(str(fmu), fmi_type="CoSimulation", **settings)
    assert len(result) == round(until / loop.step) + 1
    for name in names:
        assert result[name].astype(float).tolist() == expected[name].astype(float).tolist(), name
    return sum(len(set(result[name])) > 1 for name in names)


class Instance:
    """An instance of an FMU; real variables are read and set by name, a dot may be two underscores."""

    def __init__(self, slave: Any, references: Mapping[str, int], log: list[str]) -> None:
        self.slave, self.references, self.log = slave, references, log

    def __setitem__(self, name: str, value: float) -> None:
        self.slave.setReal([self.references[name.replace("__", ".")]], [value])

    def __getitem__(self, name: str) -> float:
        value: float = self.slave.getReal([self.references[name]])[0]
        return value

    def step(self, time: float, size: float) -> float:
        self.slave.doStep(time, size)
        return time + size


@contextmanager
def running(fmu: Path, start: float = 0.0, **starts: float) -> Iterator[Instance]:
    """An instance that has been initialized."""
    description = fmpy.read_model_description(str(fmu))
    log: list[str] = []
    slave = fmpy.fmi2.FMU2Slave(
        guid=description.guid,
        unzipDirectory=str(unpack(fmu, fmu.stat().st_mtime_ns)),
        modelIdentifier=description.coSimulation.modelIdentifier,
        instanceName="whole",
    )
    callbacks = fmpy.fmi2.fmi2CallbackFunctions()
    callbacks.logger = fmpy.fmi2.fmi2CallbackLoggerTYPE(lambda *words: log.append(words[4].decode()))
    callbacks.allocateMemory = fmpy.fmi2.fmi2CallbackAllocateMemoryTYPE(fmpy.calloc)
    callbacks.freeMemory = fmpy.fmi2.fmi2CallbackFreeMemoryTYPE(fmpy.free)
    slave.instantiate(callbacks=callbacks)
    instance = Instance(slave, {v.name: v.valueReference for v in description.modelVariables}, log)
    try:
        slave.setupExperiment(startTime=start)
        for name, value in starts.items():
            instance[name] = value
        slave.enterInitializationMode()
        slave.exitInitializationMode()
        yield instance
    finally:
        slave.freeInstance()
