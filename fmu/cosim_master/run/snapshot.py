"""Snapshot: a whole co-simulation at a communication point."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cosim
from cosim.kit import ParticipantDescription, ResultStream, checkpoint_bytes, file_digest
from cosim_master.algorithms import exchange_layout
from cosim_master.coupling.coupling import CommunicationPoints, file_paths
from cosim_master.processes.plain_events import event_of_plain, plain_event
from cosim_master.recording.co_simulation_result import events_inside
from cosim_master.recording.collect_samples import Collected
from cosim_master.recording.inner_rows import InputCourse
from cosim_master.run.object_memory import memory_of, put_back
from cosim_master.run.saved_trees import LARGEST, from_bytes, to_bytes
from cosim_master.run.tree_forms import check_form

if TYPE_CHECKING:
    from cosim_master.run.simulation_run import SimulationRun


KEPT_SAMPLES = f"coupling.collected[{Collected._fields.index('kept')}]"
GROWING = (
    *("events", "happened", "rows.inner", "rows.texts", "rows.times", "rows.table", KEPT_SAMPLES),
    *("derivatives.times", "derivatives.rows"),
)
"""Lists and arrays of a snapshot that grow while a run goes on; what takes them back checks their lengths."""


@dataclass(frozen=True)
class Held:
    """A state as a participant saves it."""

    token: Any


@dataclass(frozen=True)
class Snapshot:
    """Everything that a run needs to go on to the same bytes: participants, master, results so far.

    Attributes
    ----------
    tree : dict
        Numbers, text, bytes and arrays.
    """

    tree: dict[str, Any]

    @classmethod
    def of(cls, run: SimulationRun, index: int, *, in_memory: bool = False) -> Snapshot:
        """Of a run that has reached the communication point `index`.

        Parameters
        ----------
        run : SimulationRun
        index : int
        in_memory : bool
            Whether states of participants stay as they save them, which this run alone takes back.

        Raises
        ------
        ModelError
            The master algorithm remembers something that is neither number, text nor array.
        """
        coupled = run.coupled
        states: dict[str, Any] = {}
        for name, participant in coupled.participants.items():
            token = coupled.guarded(name, participant.save)
            states[name] = Held(token) if in_memory else coupled.guarded(name, participant.serialize, token)
        return cls(cls._tree(run, index, states))

    @classmethod
    def _tree(cls, run: SimulationRun, index: int, states: dict[str, Any]) -> dict[str, Any]:
        coupled, statistics = run.coupled, run.statistics
        return {
            "identity": run.identity,
            "index": index,
            "time": coupled.time,
            "participants": states,
            "board": {name: list(values) for name, values in coupled.board.items()},
            "held": {name: list(values) for name, values in coupled.held.items()},
            "drives": {name: _course(course) for name, course in coupled.courses.items()},
            "coupling": coupled.samples.memory(),
            "stop_reason": coupled.stop_reason,
            "events": [plain_event(event) for event in coupled.events],
            "happened": [
                plain_event(event) for event in (*run.happened, *events_inside(coupled.participants))
            ],
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

    @classmethod
    def from_bytes(cls, data: bytes) -> Snapshot:
        """From `to_bytes`.

        Raises
        ------
        CosimError
            These bytes are damaged, or no snapshot.
        """
        tree = from_bytes(data)
        if not isinstance(tree, dict) or not isinstance(tree.get("identity"), dict):
            raise cosim.CosimError("is not a checkpoint of a co-simulation")
        check_form(tree, {"index": 0, "time": 0.0, "participants": {}}, "content")
        index, time = tree["index"], tree["time"]
        if index is None or index < 0 or time is None or not math.isfinite(time):
            raise cosim.CosimError(f"is damaged: its point is {index} at t = {time} s")
        return cls(tree)

    @classmethod
    def read(cls, path: Path) -> Snapshot:
        """From a file.

        Raises
        ------
        CosimError
            It cannot be read, or is not a snapshot.
        """
        data = checkpoint_bytes(path, LARGEST)
        try:
            return cls.from_bytes(data)
        except cosim.CosimError as error:
            raise cosim.CosimError(f"{path}: {error}") from None

    def to_bytes(self) -> bytes:
        """With magic, version and checksum."""
        return to_bytes(self.tree)

    @property
    def time(self) -> float:
        """Of the communication point, s."""
        return float(self.tree["time"])

    def check(self, run: SimulationRun, points: CommunicationPoints, accepted: Collection[str] = ()) -> None:
        """Refuse to go on with another co-simulation than was saved.

        Parameters
        ----------
        run : SimulationRun
        points : CommunicationPoints
        accepted : collection of str
            Participants whose file may be another one: mended, and its states are the same.

        Raises
        ------
        ModelError
            With everything that differs.
        """
        here, there = run.identity, self.tree["identity"]
        problems = [
            cosim.Problem(
                f"participants.{name}", str(cosim.LookUpError("participant", name, here["participants"]))
            )
            for name in accepted
            if name not in here["participants"]
        ]
        for key, value in here.items():
            if there.get(key) != value:
                if key == "participants" and list(value) == list(there.get(key, ())):
                    problems += _changed_participants(there[key], value, accepted)
                else:
                    text = f"{key} differ: {_short(there.get(key))}, here {_short(value)}"
                    problems.append(cosim.Problem("checkpoint", text))
        index = self.tree["index"]
        if not problems and (index > points.count or points.time(index) != self.time):
            text = f"was made at t = {self.time:.9g} s, no communication point up to {points.until:.9g} s"
            problems.append(cosim.Problem("checkpoint", text))
        if problems:
            raise cosim.ModelError(problems)

    def check_states(self, run: SimulationRun) -> None:
        """Refuse, before the run, participants that do not take what they gave.

        Raises
        ------
        ModelError
            Naming each of them.
        """
        problems = []
        for name, data in self.tree["participants"].items():
            try:
                run.coupled.participants[name].deserialize(data)
            except Exception as error:  # whatever code a participant runs
                kind = "" if isinstance(error, cosim.CosimError) else f"{type(error).__name__}: "
                text = f"it does not take back the state that it gave: {kind}{error}"
                text = f"cannot be saved in a checkpoint: {text}"
                problems.append(cosim.Problem(f"participants.{name}", text))
        if problems:
            raise cosim.ModelError(problems)

    def _check_form(self, run: SimulationRun) -> None:
        """Refuse a tree that has another form than that of this run has: a damaged file, or a forged one."""
        tree, names = self.tree, run.coupled.participants
        for key, value in self._tree(run, 0, dict.fromkeys(names, b"")).items():
            if key == "coupling":
                value = {**value, "steps": {}}  # which participants have stepped at another time: see below
            if key != "identity":
                check_form(tree.get(key), value, key, GROWING)
        drives = {name: _course(InputCourse(0.0, list(held), None)) for name, held in tree["held"].items()}
        check_form(tree["drives"], {name: drives.get(name, {}) for name in tree["drives"]}, "drives")
        steps = tree["coupling"]["steps"]
        check_form(steps, dict.fromkeys(steps, (0.0, 0.0)), "coupling.steps")
        event = plain_event(cosim.EventRecord(0.0, cosim.EventCause.TRIGGERED, "", "", (0.0, 0.0)))
        each: dict[str, Any] = {"events": event, "happened": event, "inner": (0, 0, 0.0, {})}
        for key, rows in (
            ("events", tree["events"]),
            ("happened", tree["happened"]),
            ("inner", tree["rows"]["inner"]),
        ):
            for i, row in enumerate(rows):
                check_form(row, each[key], f"{key}[{i}]", [f"{key}[{i}].changed"])
        rows = tree["rows"]
        if len(rows["times"]) != len(rows["table"]):
            raise cosim.CosimError("is damaged: the number of its times is not the number of its rows")

    def restore(self, run: SimulationRun) -> int:
        """Put everything back into a run that has been initialized; the communication point reached."""
        coupled, tree = run.coupled, self.tree
        states = tree["participants"]
        if not any(isinstance(state, Held) for state in states.values()):  # else it was made in this process
            self._check_form(run)
        try:
            for name, data in states.items():
                participant = coupled.participants[name]
                held = isinstance(data, Held)
                token = data.token if held else coupled.guarded(name, participant.deserialize, data)
                coupled.guarded(name, participant.restore, token)
            coupled.clear_inner_values()
            coupled.board.update(tree["board"])
            coupled.held.update(tree["held"])
            coupled.courses.update({name: InputCourse(*course) for name, course in tree["drives"].items()})
            coupled.samples.put_back(tree["coupling"])
            coupled.stop_reason, coupled.time = tree["stop_reason"], tree["time"]
            coupled.events[:] = [event_of_plain(event) for event in tree["events"]]
            run.happened[:] = [event_of_plain(event) for event in tree["happened"]]
            for key, value in tree["statistics"].items():
                setattr(run.statistics, key, value)
            run.recorder.put_back(tree["rows"])
            put_back(run.algorithm, tree["algorithm"])
            if run.derivatives is not None:
                run.derivatives.put_back(tree["derivatives"])
            index = int(tree["index"])
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            text = "is damaged: what it holds cannot be put back; begin the run anew"
            raise cosim.CosimError(f"the checkpoint {text}") from error
        return index


def identity(run: SimulationRun) -> dict[str, Any]:
    """What has to be the same in the run that goes on."""
    loop = run.loop
    paths = file_paths(loop.participants) | loop.python_files
    return {
        "participants": {
            name: [description.kind, "" if (path := paths[name]) is None else file_digest(path)]
            for name, description in loop.descriptions.items()
        },
        "connections": [f"{link} {link.factor!r} {link.offset!r}" for link in loop.all_links],
        "start values": repr({name: dict(values) for name, values in loop.start_values.items()}),
        "tolerances": repr(dict(loop.tolerances)),
        "algorithms": [type(run.algorithm).__name__, repr(loop.options)],
        "layouts of what algorithms remember": exchange_layout.digest(),
        "communication steps": [loop.start, loop.step, repr(dict(loop.step_multiple))],
        "orders": list(loop.order),
        "recorded signals": run.recorder.paths,
        "derivatives": [] if run.derivatives is None else run.derivatives.by,
    }


def _changed_participants(
    before: Mapping[str, Any], now: Mapping[str, Any], accepted: Collection[str]
) -> list[cosim.Problem]:
    """What has changed in participants of the same names, but for files that are accepted."""
    problems = []
    for name, (kind, file) in now.items():
        kind_before, file_before = before[name]
        if kind != kind_before:
            text = f"was a {kind_before} in the checkpoint, and is a {kind}: its state cannot be the same"
        elif file != file_before and name not in accepted:
            text = (
                f"{_file(file_before)} was used before the checkpoint, {_file(file)} is here: if its states "
                f"are the same, go on with --accept-changed {name} (restore(…, accept_changed=['{name}']))"
            )
        else:
            continue
        problems.append(cosim.Problem(f"participants.{name}", text))
    return problems


def _file(digest: Any) -> str:
    """``plant.fmu (sha256 1a2b3c4d…)``."""
    if not isinstance(digest, Mapping):
        return "no file"
    return f"{digest.get('file')} (sha256 {digest.get('sha256', '')[:8]}…)"


def check_serializes(descriptions: Mapping[str, ParticipantDescription], stream: ResultStream | None) -> None:
    """Refuse, before the run, what cannot be saved.

    Raises
    ------
    ModelError
        Naming every participant that cannot serialize its state.
    """
    problems = [
        cosim.Problem(
            f"participants.{name}",
            f"cannot be saved in a checkpoint: a {description.kind} that does not serialize its state"
            + (" (canSerializeFMUstate)" if "FMI" in description.kind else ""),
        )
        for name, description in descriptions.items()
        if not description.can_serialize
    ]
    if stream is not None:
        text = "rows that have gone to a stream are not saved: hold the results in memory"
        problems.append(cosim.Problem("checkpoint", text))
    if problems:
        raise cosim.ModelError(problems)


def _algorithm_memory(algorithm: cosim.MasterAlgorithm) -> Any:
    try:
        return memory_of(algorithm)
    except TypeError as error:
        kind = type(algorithm).__name__
        text = (
            f"cannot be saved in a checkpoint: {kind} remembers what is not a number, text or array ({error})"
        )
        raise cosim.ModelError.of("master.algorithm", text) from None


def _course(course: InputCourse) -> list[Any]:
    return [course.time, list(course.values), None if course.slopes is None else list(course.slopes)]


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}…"
