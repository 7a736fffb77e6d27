"""The checks that run an FMU.

Each yields `Faults`, and raises `FailedCallError` where it cannot go on.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from cosim_fmi.validate.check_parts import HALF, Faults, first_difference, instance_of
from cosim_fmi.validate.compare_experiment import disagreements
from cosim_fmi.validate.finding import FailedCallError
from cosim_fmi.validate.foreign_instance import STEPS, ForeignFmu, ForeignInstance
from cosim_fmi.validate.required_functions import CAPABILITIES, REQUIRED
from cosim_fmi.validate.saved_state_checks import new_process, rollback, serialization
from cosim_fmi.validate.wrong_call_checks import wrong_steps, wrong_values

MOST_BOUNDED = 50
"""Inputs that are tried at the ends of their ranges."""
ROUNDING = 1e-9
"""Relative difference of a value from its start value in the description, which is a decimal."""
DETOUR = 1e-3
"""How far away derivatives are evaluated in between: relative to a step, and to each state or 1."""
DEFAULT_TOLERANCE = 1e-4
"""The tolerance of an FMU that declares none; results may depend on the step by a hundred tolerances."""


def functions(fmu: ForeignFmu) -> Faults:
    """Check the functions that a library exports, and the version and platform that it returns."""
    version = fmu.job["version"]
    prefix = fmu.library.table.prefix
    needed = {name for able, names in CAPABILITIES.items() if fmu.job[able] for name in names}
    missing = [n for n in REQUIRED[version, fmu.job["interface"]].split() if not fmu.has(n)]
    for name in missing:
        if name.lower() in needed:
            yield "error", f"the library does not export {prefix}{name}, though the capability is declared"
    unexported = [prefix + name for name in missing if name.lower() not in needed]
    if unexported:
        asks = f"FMI {version} asks of every library"
        yield "warning", f"the library does not export {', '.join(unexported)}, which {asks}"
    answers = {"GetVersion": version}
    answers |= {
        "1.0": {"GetTypesPlatform" if fmu.is_co_simulation else "GetModelTypesPlatform": "standard32"},
        "2.0": {"GetTypesPlatform": "default"},
    }.get(version, {})
    for function, expected in answers.items():
        if fmu.has(function):
            answer = fmu.library.function(function)() or b""
            if answer != expected.encode() and not (version == "3.0" and answer.startswith(b"3.0")):
                yield "error", f"{prefix}{function} answers {answer!r}, needs {expected!r}"


def simulation(fmu: ForeignFmu) -> Faults:
    """A plain run has the declared start values, and finite outputs."""
    with instance_of(fmu) as instance:
        exact = [
            v
            for v in fmu.of("output", "local", "parameter", "input", kind="Real")
            if v["start"] is not None and v["size"] == 1 and v["access"] in ("Real", "Float64")
        ]
        instance.start()
        at_start = instance.get(exact)
        for variable, value in zip(exact, at_start, strict=True):
            start = float(variable["start"])
            # events at the start may have set it
            may_have_jumped = not fmu.is_co_simulation and variable["variability"] == "discrete"
            is_exact = variable["initial"] == "exact" and not may_have_jumped
            if is_exact and abs(value - start) > ROUNDING * max(1.0, abs(start)):
                yield (
                    "warning",
                    f"{variable['name']} starts at {value!r}, its start value is {variable['start']}",
                )
        for i, row in enumerate(instance.steps(0, STEPS, drive=False)):
            for variable, value in zip(fmu.compared, row, strict=True):
                if not math.isfinite(value) and variable["causality"] == "output":
                    yield "error", f"output {variable['name']} is {value!r} after {i + 1} steps"
                    return
        instance.terminate()


def repetition(fmu: ForeignFmu) -> Faults:
    """A second instance after the first repeats it."""
    with instance_of(fmu) as first:
        expected = first.start().steps(0, HALF)
        first.terminate()
    with instance_of(fmu) as second:
        rows = second.start().steps(0, HALF)
        second.terminate()
    yield from first_difference(fmu, expected, rows, "a second instance does not repeat the first")


def reset(fmu: ForeignFmu) -> Faults:
    """An instance repeats its results after a reset."""
    if fmu.job["version"] == "1.0" and not fmu.is_co_simulation:
        return  # in FMI 1.0 Model Exchange has none
    with instance_of(fmu) as instance:
        expected = instance.start().steps(0, HALF)
        instance.terminate()
        instance.reset()
        rows = instance.start().steps(0, HALF)
    yield from first_difference(fmu, expected, rows, "after a reset it does not repeat itself")


def two_instances(fmu: ForeignFmu) -> Faults:
    """Two instances at the same time do not disturb each other."""
    if fmu.job["only_once"]:
        return
    with instance_of(fmu, "one") as first:
        expected = first.start().steps(0, HALF)
    with instance_of(fmu, "one") as first, instance_of(fmu, "two") as second:
        first.start(), second.start()
        rows = []
        for i in range(HALF):
            rows += first.steps(i, i + 1)
            if i % 2 == 0:
                second.steps(i // 2, i // 2 + 1, drive=False)
    yield from first_difference(fmu, expected, rows, "two instances in one process disturb each other")


def evaluation(fmu: ForeignFmu) -> Faults:
    """Derivatives and event indicators are functions of time, states and inputs: nothing else."""
    if fmu.is_co_simulation:
        return
    with instance_of(fmu) as instance:
        instance.start().steps(0, 2, drive=False)
        if instance.stopped:
            return
        states = instance.states()
        expected = instance.rates() + instance.indicators()
        instance.set_time(instance.time + DETOUR * fmu.step)
        instance.put_states([x + DETOUR * max(1.0, abs(x)) for x in states])
        instance.rates(), instance.indicators()
        instance.set_time(instance.time)
        instance.put_states(states)
        if instance.rates() + instance.indicators() != expected:
            yield "error", "derivatives or event indicators differ after an evaluation elsewhere and back"


def step_sizes(fmu: ForeignFmu) -> Faults:
    """Shorter communication steps give the same results."""
    if not fmu.job["variable_step"] or not fmu.is_co_simulation:
        return
    tolerance = 100.0 * (fmu.job["tolerance"] or DEFAULT_TOLERANCE)
    with instance_of(fmu, "one") as coarse, instance_of(fmu, "two") as fine:
        whole = coarse.start().steps(0, HALF, drive=False)
        parts = fine.start().steps(0, HALF, parts=2, drive=False)
    reals = [(i, v) for i, v in enumerate(fmu.compared) if v["type"] == "Real"]
    largest = {i: max((abs(row[i]) for row in whole), default=0.0) for i, _ in reals}
    largest_of_unit: dict[str, float] = {}
    for i, variable in reals:
        largest_of_unit[variable["unit"]] = max(largest_of_unit.get(variable["unit"], 0.0), largest[i])
    for i, variable in reals:
        if variable["causality"] != "output":
            continue
        error = max((abs(a[i] - b[i]) for a, b in zip(whole, parts, strict=True)), default=0.0)
        # an output that should be 0, as a residual, is measured by the other variables of its unit
        size = max(largest[i], 1e-3 * largest_of_unit[variable["unit"]], 1e-9)
        if not error <= tolerance * size:
            yield (
                "warning",
                f"{variable['name']} depends on the communication step: with half of {fmu.step:g} s it "
                f"differs by {error:.3g} (values up to {largest[i]:.3g})",
            )


def experiments(fmu: ForeignFmu) -> Faults:
    """The experiments that it brings with it give their reference results."""
    reals = [v["name"] for v in fmu.variables if v["type"] == "Real"]
    for experiment in fmu.job["experiments"]:
        try:
            with instance_of(fmu) as instance:
                values = instance.run_experiment(experiment)
        except FailedCallError as error:
            yield "error", f"{experiment['name']}: {error}"
            continue
        for text in disagreements(experiment, values, reals):
            yield "error", f"{experiment['name']}: {text}"


def bounds(fmu: ForeignFmu) -> Faults:
    """With inputs at the ends of their ranges all values are finite."""
    bounded = [v for v in fmu.of("input", kind="Real") if v["min"] is not None or v["max"] is not None]
    bounded = [v for v in bounded if v in fmu.driven]
    for variable in bounded[:MOST_BOUNDED]:
        for side in ("min", "max"):
            if variable[side] is None:
                continue
            try:
                with instance_of(fmu) as instance:
                    instance.start()
                    instance.set([variable], [float(variable[side])])
                    rows = instance.steps(0, 3, drive=False)
            except FailedCallError as error:
                yield "error", f"with {variable['name']} at its {side} {variable[side]}: {error}"
                continue
            names = [v["name"] for v, x in zip(fmu.compared, rows[-1], strict=True) if not math.isfinite(x)]
            if names:
                yield (
                    "error",
                    f"with {variable['name']} at its {side} {variable[side]}, {names[0]} is not finite",
                )


def short_lives(fmu: ForeignFmu) -> Faults:
    """Instances can be freed at any time: no call fails."""
    ForeignInstance(fmu).free()
    instance = ForeignInstance(fmu)
    instance.start()
    instance.free()
    instance = ForeignInstance(fmu)
    instance.start()
    instance.terminate()
    instance.free()
    for _ in range(5):
        ForeignInstance(fmu).free()
    yield from ()


RUN_CHECKS: dict[str, Callable[[ForeignFmu], Faults]] = {
    check.__name__.replace("_", " "): check
    for check in (
        functions, simulation, repetition, two_instances, reset, rollback, serialization, new_process,
        evaluation, step_sizes, experiments, bounds, short_lives, wrong_steps, wrong_values,
    )
}  # fmt: skip
"""The checks by name, in the order in which they are run."""
