"""The checks that run an FMU.

Each yields findings (severity, sentence), and is left by a `FailedCallError` when it cannot go on.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from cosim_fmi.validate.compare_experiment import disagreements
from cosim_fmi.validate.finding import FailedCallError
from cosim_fmi.validate.foreign_instance import STEPS, ForeignFmu, ForeignInstance, Row
from cosim_fmi.validate.required_functions import CAPABILITIES, REQUIRED

HALF = STEPS // 2
"""Steps of a run that is compared with another one."""
Found = Iterator[tuple[str, str]]
"""Severity and sentence of each finding."""


@contextmanager
def _instance(fmu: ForeignFmu, name: str = "instance") -> Iterator[ForeignInstance]:
    instance = ForeignInstance(fmu, name)
    try:
        yield instance
    finally:
        instance.free()


def _compared(fmu: ForeignFmu, expected: list[Row], rows: list[Row], fault: str) -> Found:
    """A sentence about the first number that differs in its last bit, if there is one."""
    for i, (a, b) in enumerate(zip(expected, rows, strict=True)):
        for variable, x, y in zip(fmu.compared, a, b, strict=True):
            if x != y and not (math.isnan(x) and math.isnan(y)):
                at = f" at point {i + 1}" if len(rows) > 1 else ""
                yield "error", f"{fault}: {variable['name']} is {y!r} instead of {x!r}{at}"
                return


def functions(fmu: ForeignFmu) -> Found:
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
        "1.0": {"GetTypesPlatform" if fmu.steps else "GetModelTypesPlatform": "standard32"},
        "2.0": {"GetTypesPlatform": "default"},
    }.get(version, {})
    for function, expected in answers.items():
        if fmu.has(function):
            answer = fmu.library.function(function)() or b""
            if answer != expected.encode() and not (version == "3.0" and answer.startswith(b"3.0")):
                yield "error", f"{prefix}{function} answers {answer!r}, needs {expected!r}"


def simulation(fmu: ForeignFmu) -> Found:
    """A plain run: start values, finite outputs."""
    with _instance(fmu) as instance:
        exact = [
            v
            for v in fmu.of("output", "local", "parameter", "input", kind="Real")
            if v["start"] is not None and v["size"] == 1 and v["access"] in ("Real", "Float64")
        ]
        instance.start()
        at_start = instance.get(exact)
        for variable, value in zip(exact, at_start, strict=True):
            start = float(variable["start"])
            may_have_jumped = (
                not fmu.steps and variable["variability"] == "discrete"
            )  # in events of the start
            is_exact = variable["initial"] == "exact" and not may_have_jumped
            if is_exact and abs(value - start) > 1e-9 * max(1.0, abs(start)):
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


def repetition(fmu: ForeignFmu) -> Found:
    """A second instance after the first repeats it."""
    with _instance(fmu) as first:
        expected = first.start().steps(0, HALF)
        first.terminate()
    with _instance(fmu) as second:
        rows = second.start().steps(0, HALF)
        second.terminate()
    yield from _compared(fmu, expected, rows, "a second instance does not repeat the first")


def reset(fmu: ForeignFmu) -> Found:
    """An instance repeats its results after a reset."""
    if fmu.job["version"] == "1.0" and not fmu.steps:
        return  # FMI 1.0 knows none
    with _instance(fmu) as instance:
        expected = instance.start().steps(0, HALF)
        instance.terminate()
        instance.reset()
        rows = instance.start().steps(0, HALF)
    yield from _compared(fmu, expected, rows, "after a reset it does not repeat itself")


def two_instances(fmu: ForeignFmu) -> Found:
    """Two instances at the same time do not disturb each other."""
    if fmu.job["only_once"]:
        return
    with _instance(fmu, "one") as first:
        expected = first.start().steps(0, HALF)
    with _instance(fmu, "one") as first, _instance(fmu, "two") as second:
        first.start(), second.start()
        rows = []
        for i in range(HALF):
            rows += first.steps(i, i + 1)
            if i % 2 == 0:
                second.steps(i // 2, i // 2 + 1, drive=False)
    yield from _compared(fmu, expected, rows, "two instances in one process disturb each other")


def rollback(fmu: ForeignFmu) -> Found:
    """Save, step, restore, step: the same; and saving changes nothing."""
    if not fmu.job["can_restore"]:
        yield "note", "declares no canGetAndSetFMUstate: a master cannot repeat a step"
        return
    with _instance(fmu) as instance:
        instance.start().steps(0, HALF // 2)
        state, values = instance.save(), instance.read()
        expected = instance.steps(HALF // 2, HALF)
        instance.restore(state)
        yield from _compared(fmu, [values], [instance.read()], "hidden state: values are not restored")
        for times in ("once", "twice"):
            fault = f"hidden state: after restoring {times} the same steps differ"
            differences = list(_compared(fmu, expected, instance.steps(HALF // 2, HALF), fault))
            yield from differences
            if differences:
                break
            instance.restore(state)
        instance.free_state(state)
    with _instance(fmu) as instance:
        instance.start()
        rows = []
        for i in range(HALF):
            instance.free_state(instance.save())
            rows += instance.steps(i, i + 1)
    with _instance(fmu) as instance:
        expected = instance.start().steps(0, HALF)
    yield from _compared(fmu, expected, rows, "saving the state changes the results")


def serialization(fmu: ForeignFmu) -> Found:
    """A second instance continues from bytes; the rows are stored for the comparison by `new_process`."""
    if not fmu.job["can_serialize"]:
        return
    with _instance(fmu) as first:
        first.start().steps(0, HALF // 2)
        state = first.save()
        data, memory = first.to_bytes(state), state[1]
        expected = first.steps(HALF // 2, HALF)
    with _instance(fmu, "second") as second:
        second.start()
        second.restore(second.from_bytes(data, memory))
        rows = second.steps(HALF // 2, HALF)
    fault = "hidden state: a second instance does not go on from serialized bytes"
    yield from _compared(fmu, expected, rows, fault)
    folder = Path(fmu.job["folder"])
    (folder / "state").write_bytes(data)
    (folder / "expected.json").write_text(json.dumps([memory, expected]))


def new_process(fmu: ForeignFmu) -> Found:
    """A new process continues from the bytes that `serialization` wrote."""
    folder = Path(fmu.job["folder"])
    if not (folder / "expected.json").exists():
        return
    memory, expected = json.loads((folder / "expected.json").read_text())
    with _instance(fmu) as instance:
        instance.start()
        instance.restore(instance.from_bytes((folder / "state").read_bytes(), memory))
        rows = instance.steps(HALF // 2, HALF)
    fault = "hidden state: a new process does not go on from serialized bytes"
    yield from _compared(fmu, expected, rows, fault)


def evaluation(fmu: ForeignFmu) -> Found:
    """Derivatives and event indicators are functions of time, states and inputs: nothing else."""
    if fmu.steps:
        return
    with _instance(fmu) as instance:
        instance.start().steps(0, 2, drive=False)
        if instance.stopped:
            return
        states = instance.states()
        expected = instance.rates() + instance.indicators()
        instance.set_time(instance.time + 1e-3 * fmu.step)
        instance.put_states([x + 1e-3 * max(1.0, abs(x)) for x in states])
        instance.rates(), instance.indicators()
        instance.set_time(instance.time)
        instance.put_states(states)
        if instance.rates() + instance.indicators() != expected:
            yield "error", "derivatives or event indicators differ after an evaluation elsewhere and back"


def step_sizes(fmu: ForeignFmu) -> Found:
    """Shorter communication steps give the same results."""
    if not fmu.job["variable_step"] or not fmu.steps:
        return
    tolerance = 100.0 * (fmu.job["tolerance"] or 1e-4)
    with _instance(fmu, "one") as coarse, _instance(fmu, "two") as fine:
        whole = coarse.start().steps(0, HALF, drive=False)
        parts = fine.start().steps(0, HALF, parts=2, drive=False)
    reals = [(i, v) for i, v in enumerate(fmu.compared) if v["type"] == "Real"]
    largest = {i: max((abs(row[i]) for row in whole), default=0.0) for i, _ in reals}
    of_unit: dict[str, float] = {}
    for i, variable in reals:
        of_unit[variable["unit"]] = max(of_unit.get(variable["unit"], 0.0), largest[i])
    for i, variable in reals:
        if variable["causality"] != "output":
            continue
        error = max((abs(a[i] - b[i]) for a, b in zip(whole, parts, strict=True)), default=0.0)
        # what should be nothing (a residual) is measured by what it is the small difference of
        size = max(largest[i], 1e-3 * of_unit[variable["unit"]], 1e-9)
        if not error <= tolerance * size:
            yield (
                "warning",
                f"{variable['name']} depends on the communication step: with half of {fmu.step:g} s it "
                f"differs by {error:.3g} (values up to {largest[i]:.3g})",
            )


def experiments(fmu: ForeignFmu) -> Found:
    """The experiments that it brings with it give their reference results."""
    reals = [v["name"] for v in fmu.variables if v["type"] == "Real"]
    for experiment in fmu.job["experiments"]:
        try:
            with _instance(fmu) as instance:
                values = instance.experiment(experiment)
        except FailedCallError as error:
            yield "error", f"{experiment['name']}: {error}"
            continue
        for text in disagreements(experiment, values, reals):
            yield "error", f"{experiment['name']}: {text}"


def recording(fmu: ForeignFmu) -> Found:
    """Run the experiments of the job, and write the results to a file, without a check."""
    for experiment in fmu.job["experiments"]:
        with _instance(fmu) as instance:
            values = instance.experiment(experiment)
        (Path(fmu.job["folder"]) / RECORDED).write_text(json.dumps(values))
    yield from ()


def bounds(fmu: ForeignFmu) -> Found:
    """Inputs at the ends of their ranges."""
    bounded = [v for v in fmu.of("input", kind="Real") if v["min"] is not None or v["max"] is not None]
    bounded = [v for v in bounded if v in fmu.driven]
    for variable in bounded[:50]:
        for side in ("min", "max"):
            if variable[side] is None:
                continue
            try:
                with _instance(fmu) as instance:
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


def short_lives(fmu: ForeignFmu) -> Found:
    """Instances that are freed early."""
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


def wrong_steps(fmu: ForeignFmu) -> Found:
    """Communication steps that are not positive."""
    if not fmu.steps:
        return
    accepted = []
    for size in (0.0, -fmu.step):
        with _instance(fmu) as instance:
            instance.start()
            if _is_taken(instance.do_step, fmu.start, size):
                accepted.append(f"{size:g}")
    if accepted:
        yield "warning", f"communication steps of {' and '.join(accepted)} s are answered by OK"


def wrong_values(fmu: ForeignFmu) -> Found:
    """References and values that cannot be."""
    unknown = max((v["reference"] for v in fmu.variables), default=0) + 12345
    kind = "Float64" if fmu.job["version"] == "3.0" else "Real"
    nowhere = {"name": "?", "access": kind, "size": 1, "reference": unknown}
    with _instance(fmu) as instance:
        instance.start()
        if _is_taken(instance.get, [nowhere]):
            name = instance.instance.name_of(f"Get{kind}")
            yield "warning", f"{name} of a value reference that is not there ({unknown}) is answered by OK"
    for variable in fmu.driven[:1]:
        with _instance(fmu) as instance:
            instance.start()
            if _is_taken(instance.set, [variable], [math.nan]):
                yield "warning", f"input {variable['name']} accepts NaN and returns OK"
    if not fmu.steps:
        return
    for variable in fmu.of("input", "parameter", kind="Real"):
        if variable["min"] is not None and variable["variability"] != "fixed" and variable["size"] == 1:
            below = float(variable["min"]) - max(1.0, abs(float(variable["min"])))
            with _instance(fmu) as instance:
                instance.start()
                if _is_taken(instance.set, [variable], [below]):
                    name = variable["name"]
                    yield "warning", f"{name} takes {below!r}, below its min {variable['min']}, with OK"
            break


def _is_taken(action: Callable[..., object], *arguments: object) -> bool:
    """Whether an FMU answers OK to what no environment may do."""
    try:
        action(*arguments)
    except FailedCallError:
        return False
    return True


RUN_CHECKS: dict[str, Callable[[ForeignFmu], Found]] = {
    check.__name__.replace("_", " "): check
    for check in (
        functions, simulation, repetition, two_instances, reset, rollback, serialization, new_process,
        evaluation, step_sizes, experiments, bounds, short_lives, wrong_steps, wrong_values,
    )
}  # fmt: skip
"""The checks by name, in the order in which they are run."""
RECORD = "recording"
RECORDED = "recorded.json"
DECISIVE = "simulation"
"""A process that dies in it would die in all that follow."""
FORGIVABLE = ("wrong steps", "wrong values")
"""Checks that make calls which environments must not make: their failures are no errors."""
OF_A_NEW_PROCESS = ("new process",)
"""Checks that run in a new process, in which nothing of the FMU has run before."""
