"""Models that together use every function that belongs to no model: one of each registered kind."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

import cosim
from cosim import kit
from cosim.contracts.constraints import MEET_SIGNATURE, meet_constraints
from cosim.preparation.monitored_steps import MONITORED_SIGNATURE, advance_monitored
from cosim.step.sliding_field import sliding_field
from cosim.system import copy_blocks
from cosim.system.block_address import block_address
from cosim_ensembles import batch
from cosim_ensembles.reduction import KNOWN
from cosim_export.native.compilers import ZigCompiler
from cosim_export.native.native_sources import COMMON, SHELL
from cosim_fmi.variables import typed_calls, typed_variables
from cosim_lowering.linking import lowered_texts
from cosim_lowering.program import Program
from cosim_master.algorithms import next_request
from cosim_master.exchange import exchange_machine, run_exchanges
from cosim_master.model_exchange import loop_calls, model_exchange_calls, system_calls
from cosim_master.model_exchange.called_simulator import CalledSimulator
from cosim_master.processes import answer_frames, step_frames
from cosim_master.recording import collect_samples
from cosim_master.trust import explained_run
from cosim_mechanics import Joint, Multibody
from cosim_workbench import number_text

VALUES: dict[str, dict[str, Any]] = {
    **{"signals.time_table": {"times": (0.0, 1.0, 2.0, 3.0), "samples": (0.0, 1.0, -1.0, 2.0)}},
    **{"signals.transfer_function": {"numerator": (1.0, 2.0), "denominator": (1.0, 3.0, 2.0)}},
    "measures.constant": {"value": 1.0},
    "mechanics.coupled_bushing": {"stiffness": np.eye(6)},
    "mechanics.rigid_body": {"mass": 1.0, "inertia": (1.0, 1.0, 1.0, 0.0, 0.0, 0.0)},
    "mechanics.two_point_force": {"station_on_body1": (0.3, 0.0, 0.0)},
}
"""Values of parameters for which neither 1 nor what the class is tried with will do."""
SPECIAL: dict[str, list[dict[str, Any]]] = {"measures.delay": [{"delay": 0.0}]}
"""Values with which a component needs other functions."""
ATTACHED = {
    **{"body": "tip", "of": "tip", "body1": "arm", "body2": "tip", "bodies": "tip"},
    **{"coordinate": "elbow.q[0]", "coordinate1": "shoulder.q[0]", "coordinate2": "elbow.q[0]"},
    **{"delay": "late", "history": "wave", "initial": "begin"},
}
"""The parts to which attachments of these names are attached."""
SIGNALS = ("wave", "elbow.q[0]", "steps.part", "felt", "sampled")
"""The signals of measures: one with all derivatives, a state, one without derivatives, a past, jumps."""
ALONE = ("mechanics.ground", "mechanics.rigid_body", "mechanics.unchecked_body", "fmu.model_exchange")
"""Components that each mechanism has; bodies, which need a joint; one whose functions follow from a file."""
FIXED_STEP = 0.01  # s
ACCURACY = 1e-4


class Steps(cosim.Component):
    """Handlers of every cause, a witness: what a system with events asks for."""

    level = cosim.auxiliary_state(start=1.0)
    count = cosim.discrete(dtype=int)
    part = cosim.output()

    @cosim.kernel
    def show(level, part):
        part[0] = 0.5 * level

    @cosim.kernel
    def derivatives(level, level_dot):
        level_dot[0] = -1.0

    @cosim.witness
    def empty(level):
        return level - 0.995

    @cosim.on(empty, does="unrestricted")
    def fill(level_next):
        level_next[0] = 1.0

    @cosim.every(0.01, does="discrete")
    def tick(count, count_next):
        count_next[0] = count + 1


TOGETHER = 12
"""Alternatives of a component in one model, since building models takes most time."""


def mechanism(name: str, **settings: Any) -> Multibody:
    """Two links on pins, a signal and a time."""
    model = Multibody(name, **settings)
    for link, joint, parent in (("arm", "shoulder", "ground"), ("tip", "elbow", "arm")):
        model.body(link, **VALUES["mechanics.rigid_body"], center_of_mass=(0.0, 0.5, 0.0))
        model.joint("pin", link, parent, joint, frame_on_parent=(0.0, 1.0, 0.0))
    model.measure("measures.sinusoid", "wave", frequency=1.0)
    model.measure("measures.time", "late")
    model.measure("measures.constant", "begin", value=1.0)
    model.measure("measures.delay", "felt", source="wave", delay=0.02)
    model.measure("measures.sample_and_hold", "sampled", source="wave", period=0.01)
    model.add(Steps, "steps")
    return model


def closed_mechanism(name: str) -> Multibody:
    """`mechanism`, whose pins are coupled by a constraint."""
    model, gear = mechanism(name), cosim.registry().get("constraint", "mechanics.gear")
    model.add(gear(**values_of("mechanics.gear", gear)), "gear")
    return model


def alternatives(id: str, cls: type[cosim.Component]) -> Iterator[dict[str, Any]]:
    """Every combination of the options of a component, with each special value."""
    options = {n: d for n, d in cls.declarations.items() if d.kind == "option" and not d.options.get("text")}
    listed = [d.options.get("choices") or (False, True) for d in options.values()]
    for combination in itertools.product(*listed):
        for special in ({}, *SPECIAL.get(id, [])):
            yield {**dict(zip(options, combination, strict=True)), **special}


def values_of(id: str, cls: type[cosim.Component], signal: str = "wave") -> dict[str, Any]:
    """The values of parameters without a default, and the attachments."""
    followed = dict.fromkeys(("source", "first", "second"), signal)
    needed = {n: d for n, d in cls.declarations.items() if d.kind == "parameter" and d.start is None}
    numbers = {n: np.ones(d.shape) if d.shape else 1.0 for n, d in needed.items()}
    attachments = {**ATTACHED, **followed}
    attached = {
        n: attachments[n] for n, d in cls.declarations.items() if d.kind == "attachment" and n in attachments
    }
    sources = {n: d for n, d in cls.declarations.items() if d.options.get("provides") == "source"}
    attached |= {n: signal for n, d in sources.items() if n not in attachments and not d.options["optional"]}
    return {**numbers, **cls.tried_with, **attached, **VALUES.get(id, {})}


def models() -> Iterator[cosim.Model]:
    """Each component, with each of its options, on each kind of signal."""
    registry = cosim.registry()
    for entry in registry.entries("component"):
        cls = registry.get("component", entry.id)
        signals = SIGNALS if {"source", "first"} & set(cls.declarations) else SIGNALS[:1]
        cases = itertools.product(alternatives(entry.id, cls), signals)
        while several := list(itertools.islice(cases, TOGETHER)):
            model = mechanism("corpus")
            for i, (options, signal) in enumerate(several):
                values = {**values_of(entry.id, cls, signal), **options}
                if issubclass(cls, Joint):
                    model.body(f"load{i}", **VALUES["mechanics.rigid_body"])
                    model.add(cls(**{**values, "parent": "tip", "child": f"load{i}"}), f"part{i}")
                elif entry.id not in ALONE:
                    model.add(cls(**values), f"part{i}")
            yield model


def runs() -> Iterator[cosim.Simulator]:
    """A run of each integrator, if it can with constraints, events, memories and held witnesses."""
    registry = cosim.registry()
    for entry in registry.entries("integrator"):
        method = registry.get("integrator", entry.id)
        options = {} if method.capabilities.adaptive else {"fixed_step": FIXED_STEP}
        for constrained in (False, True) if method.capabilities.supports_constraints else (False,):
            model = closed_mechanism("corpus") if constrained else mechanism("corpus")
            try:
                simulator = cosim.Simulator(model.build(), integrator=entry.id, accuracy=ACCURACY, **options)
            except cosim.ModelError as error:
                print(f"left out: {error}")  # the library of an optional integrator is not installed
                break
            yield simulator


def lower_all(program: Program) -> None:
    """Lower what a native FMU of a model is made of, if it can be one."""
    for problem in program.refusals:
        print(f"not lowered: {problem}")
    with contextlib.suppress(cosim.ContractError):
        lowered_texts(program)


def use_the_step() -> None:
    """Use what most runs need.

    The Step and the method that is taken where none is named, also for native FMUs, with the blocks of a
    mechanism; constraints, rows of results.
    """
    for model in (closed_mechanism("corpus"), mechanism("corpus")):
        simulator = cosim.Simulator(model.build(), accuracy=ACCURACY)
        simulator.advance_to(FIXED_STEP)
    lowered_texts(Program(simulator.system, accuracy=ACCURACY))
    kit.compile_function(number_text.append_rows, number_text.ROWS_SIGNATURE)
    kit.compile_function(sliding_field, kit.BLOCK_SIGNATURE)  # of every model whose witnesses hold
    kit.compile_function(meet_constraints, MEET_SIGNATURE)  # every export assembles its start


def shell_objects() -> dict[str, bytes]:
    """The shell of native FMUs, compiled for every platform."""
    return ZigCompiler().shell_objects([SHELL / f"{name}.c" for name in (*COMMON, "fmi2", "fmi3")], SHELL)


def use_all() -> None:
    """Use everything that systems of our components and integrators need."""
    use_the_step()
    for model in models():
        system = model.build()
        system.default_state().realize()
        lower_all(Program(system, accuracy=ACCURACY))
    for entry in cosim.registry().entries("dynamics_solver"):
        mechanism("corpus", dynamics=entry.id).build()
    for simulator in runs():
        lower_all(Program(simulator.system, simulator.integrator, ACCURACY))
        simulator.record(["wave"], "grid", origin=0.0, interval=FIXED_STEP, point=0.0, until=1.0)
        simulator.advance_to(2 * FIXED_STEP)
    for block in (
        sliding_field,
        copy_blocks.convert,
        copy_blocks.follow_course,
        *copy_blocks.COPIES.values(),
    ):
        block_address(block)
    kit.compile_function(batch.run_batch, batch.BATCH_SIGNATURE)
    for function in KNOWN.values():
        kit.function_address(function, batch.REDUCTION_SIGNATURE)
    for exchange, count in run_exchanges.ENTRIES.items():
        kit.c_address(exchange, exchange_machine.signature_of(count))
    for elsewhere in (step_frames, answer_frames):
        for function, signature in elsewhere.ENTRIES.items():
            kit.c_address(function, signature)
    for typed in (typed_calls.write_typed, typed_calls.read_typed):
        kit.c_address(typed, typed_calls.ARRAY_CALL)
    for called in (*system_calls.ENTRIES, system_calls.solve):
        kit.compile_function(called, typed_variables.SIGNATURE)
    kit.compile_function(next_request.next_request, next_request.SIGNATURE)
    kit.compile_function(collect_samples.collect_samples, collect_samples.SIGNATURE)
    for called, signature in explained_run.ENTRIES.items():
        kit.compile_function(called, signature)
    kit.compile_function(loop_calls.next_point, loop_calls.NEXT_SIGNATURE)
    kit.compile_function(advance_monitored, MONITORED_SIGNATURE)
    CalledSimulator(next(runs()))
    for function, signature in model_exchange_calls.ENTRIES.items():
        kit.c_address(function, signature)
