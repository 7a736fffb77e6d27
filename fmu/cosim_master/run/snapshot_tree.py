"""The tree of a snapshot: the state of a run at a communication point, saved and restored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import cosim
from cosim_master.processes.plain_events import event_of_plain, plain_event
from cosim_master.recording.co_simulation_result import events_inside
from cosim_master.recording.collect_samples import Collected
from cosim_master.recording.inner_rows import INNER_ROW_FORM, InputCourse
from cosim_master.run.object_memory import memory_of, restore_memory
from cosim_master.run.tree_forms import check_form

if TYPE_CHECKING:
    from cosim_master.run.simulation_run import SimulationRun

KEPT_SAMPLES = f"coupling.collected[{Collected._fields.index('kept')}]"
GROWING = (
    *("events", "happened", "rows.inner", "rows.texts", "rows.times", "rows.table", KEPT_SAMPLES),
    *("derivatives.times", "derivatives.rows"),
)
"""Lists and arrays of a snapshot that grow during a run; whatever restores them checks their lengths."""
FORM_OF_EVENTS = cosim.EventRecord(0.0, cosim.EventCause.TRIGGERED, "", "", (0.0, 0.0))
"""An event whose form is that of all saved events."""


def snapshot_tree(run: SimulationRun, index: int, states: dict[str, Any]) -> dict[str, Any]:
    """All that a run has at the communication point `index`, with the saved states of its participants.

    Raises
    ------
    ModelError
        The master algorithm remembers something that is neither number, text nor array.
    """
    coupled, statistics = run.coupled, run.statistics
    happened = (*run.happened, *events_inside(coupled.participants))
    return {
        "identity": run.identity,
        "index": index,
        "time": coupled.time,
        "participants": states,
        "board": {name: list(values) for name, values in coupled.board.items()},
        "held": {name: list(values) for name, values in coupled.held.items()},
        # the key is part of the format of saved files
        "drives": {name: course.to_list() for name, course in coupled.courses.items()},
        "coupling": coupled.samples.memory(),
        "stop_reason": coupled.stop_reason,
        "events": [plain_event(event) for event in coupled.events],
        "happened": [plain_event(event) for event in happened],
        "statistics": {
            "steps": statistics.steps,
            "retries": statistics.retries,
            "events": statistics.events,
            "participant_time": dict(statistics.participant_time),
        },
        "rows": run.recorder.memory(),
        "algorithm": _algorithm_memory(run.algorithm),
        "derivatives": None if run.derivatives is None else run.derivatives.memory(),
    }


def restore_tree(run: SimulationRun, tree: dict[str, Any]) -> None:
    """Restore a run from the result of `snapshot_tree`, except for the states of participants."""
    coupled = run.coupled
    coupled.clear_inner_values()
    coupled.board.update(tree["board"])
    coupled.held.update(tree["held"])
    for name, course in tree["drives"].items():
        coupled.courses[name] = InputCourse.from_list(course)
    coupled.samples.put_back(tree["coupling"])
    coupled.stop_reason, coupled.time = tree["stop_reason"], tree["time"]
    coupled.events[:] = [event_of_plain(event) for event in tree["events"]]
    run.happened[:] = [event_of_plain(event) for event in tree["happened"]]
    for key, value in tree["statistics"].items():
        setattr(run.statistics, key, value)
    run.recorder.put_back(tree["rows"])
    restore_memory(run.algorithm, tree["algorithm"])
    if run.derivatives is not None:
        run.derivatives.put_back(tree["derivatives"])


def check_tree(run: SimulationRun, tree: dict[str, Any]) -> None:
    """Refuse a tree of another form than that of this run, from a damaged or forged file.

    Raises
    ------
    CosimError
        With the place of the fault.
    """
    states = dict.fromkeys(run.coupled.participants, b"")
    for key, value in snapshot_tree(run, 0, states).items():
        if key == "coupling":
            value = {**value, "steps": {}}  # participants that have stepped may differ; checked below
        if key != "identity":
            check_form(tree.get(key), value, key, GROWING)
    courses = {name: InputCourse(0.0, list(inputs)).to_list() for name, inputs in tree["held"].items()}
    check_form(tree["drives"], {name: courses.get(name, {}) for name in tree["drives"]}, "drives")
    steps = tree["coupling"]["steps"]
    check_form(steps, dict.fromkeys(steps, (0.0, 0.0)), "coupling.steps")
    _check_entries("events", tree["events"], plain_event(FORM_OF_EVENTS))
    _check_entries("happened", tree["happened"], plain_event(FORM_OF_EVENTS))
    _check_entries("inner", tree["rows"]["inner"], INNER_ROW_FORM)
    if len(tree["rows"]["times"]) != len(tree["rows"]["table"]):
        raise cosim.CosimError("is damaged: the number of its times is not the number of its rows")


def _check_entries(key: str, entries: Any, form: Any) -> None:
    for i, entry in enumerate(entries):
        check_form(entry, form, f"{key}[{i}]", [f"{key}[{i}].changed"])


def _algorithm_memory(algorithm: cosim.MasterAlgorithm) -> Any:
    try:
        return memory_of(algorithm)
    except TypeError as error:
        kind = type(algorithm).__name__
        text = (
            f"cannot be saved in a checkpoint: {kind} remembers what is not a number, text or array ({error})"
        )
        raise cosim.ModelError.of("master.algorithm", text) from None
