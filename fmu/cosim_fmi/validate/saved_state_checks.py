"""The checks of states that an FMU saves: they hold all that its results depend on."""

from __future__ import annotations

import json
from pathlib import Path

from cosim_fmi.validate.check_parts import HALF, Faults, first_difference, instance_of
from cosim_fmi.validate.foreign_instance import ForeignFmu


def rollback(fmu: ForeignFmu) -> Faults:
    """After a state is restored the same steps have the same results; and saving changes nothing."""
    if not fmu.job["can_restore"]:
        yield "note", "declares no canGetAndSetFMUstate: a master cannot repeat a step"
        return
    with instance_of(fmu) as instance:
        instance.start().steps(0, HALF // 2)
        state, values = instance.save(), instance.read()
        expected = instance.steps(HALF // 2, HALF)
        instance.restore(state)
        yield from first_difference(fmu, [values], [instance.read()], "hidden state: values are not restored")
        for times in ("once", "twice"):
            fault = f"hidden state: after restoring {times} the same steps differ"
            differences = list(first_difference(fmu, expected, instance.steps(HALF // 2, HALF), fault))
            yield from differences
            if differences:
                break
            instance.restore(state)
        instance.free_state(state)
    with instance_of(fmu) as instance:
        instance.start()
        rows = []
        for i in range(HALF):
            instance.free_state(instance.save())
            rows += instance.steps(i, i + 1)
    with instance_of(fmu) as instance:
        expected = instance.start().steps(0, HALF)
    yield from first_difference(fmu, expected, rows, "saving the state changes the results")


def serialization(fmu: ForeignFmu) -> Faults:
    """A second instance continues from bytes; the rows are stored for the comparison by `new_process`."""
    if not fmu.job["can_serialize"]:
        return
    with instance_of(fmu) as first:
        first.start().steps(0, HALF // 2)
        state = first.save()
        data, memory = first.to_bytes(state), state[1]
        expected = first.steps(HALF // 2, HALF)
    with instance_of(fmu, "second") as second:
        second.start()
        second.restore(second.from_bytes(data, memory))
        rows = second.steps(HALF // 2, HALF)
    fault = "hidden state: a second instance does not go on from serialized bytes"
    yield from first_difference(fmu, expected, rows, fault)
    folder = Path(fmu.job["folder"])
    (folder / "state").write_bytes(data)
    (folder / "expected.json").write_text(json.dumps([memory, expected]))


def new_process(fmu: ForeignFmu) -> Faults:
    """A new process continues from the bytes that `serialization` wrote."""
    folder = Path(fmu.job["folder"])
    if not (folder / "expected.json").exists():
        return
    memory, expected = json.loads((folder / "expected.json").read_text())
    with instance_of(fmu) as instance:
        instance.start()
        instance.restore(instance.from_bytes((folder / "state").read_bytes(), memory))
        rows = instance.steps(HALF // 2, HALF)
    fault = "hidden state: a new process does not go on from serialized bytes"
    yield from first_difference(fmu, expected, rows, fault)
