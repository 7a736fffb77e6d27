"""Snapshot: a whole co-simulation at a communication point."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cosim
from cosim.kit import checkpoint_bytes
from cosim_master.coupling.run_settings import CommunicationPoints
from cosim_master.run.run_identity import differences
from cosim_master.run.saved_trees import LARGEST, from_bytes, to_bytes
from cosim_master.run.snapshot_tree import check_tree, restore_tree, snapshot_tree
from cosim_master.run.tree_forms import check_form

if TYPE_CHECKING:
    from cosim_master.run.simulation_run import SimulationRun


@dataclass(frozen=True)
class StateInMemory:
    """The token of a participant's saved state, for use in the same run; a checkpoint has bytes instead."""

    token: Any


@dataclass(frozen=True)
class Snapshot:
    """Everything that a run needs to continue to the same bytes: participants, master, results so far.

    Attributes
    ----------
    tree : dict
        Numbers, text, bytes and arrays.
    """

    tree: dict[str, Any]

    @classmethod
    def of(cls, run: SimulationRun, index: int, *, in_memory: bool = False) -> Snapshot:
        """The snapshot of a run that has reached the communication point `index`.

        Parameters
        ----------
        run : SimulationRun
        index : int
        in_memory : bool
            Whether states of participants are stored as tokens, which only this run can restore.

        Raises
        ------
        ModelError
            The master algorithm has an attribute that cannot be saved.
        """
        coupled = run.coupled
        states: dict[str, Any] = {}
        for name, participant in coupled.participants.items():
            token = coupled.guarded(name, participant.save)
            states[name] = (
                StateInMemory(token) if in_memory else coupled.guarded(name, participant.serialize, token)
            )
        return cls(snapshot_tree(run, index, states))

    @classmethod
    def from_bytes(cls, data: bytes) -> Snapshot:
        """The snapshot that `to_bytes` has written.

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
        """The snapshot in a file.

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
        """The snapshot as bytes, with magic, version and checksum."""
        return to_bytes(self.tree)

    @property
    def time(self) -> float:
        """The time of the communication point, s."""
        return float(self.tree["time"])

    def check(self, run: SimulationRun, points: CommunicationPoints, accepted: Collection[str] = ()) -> None:
        """Refuse to continue with another co-simulation than the saved one.

        Parameters
        ----------
        run : SimulationRun
        points : CommunicationPoints
        accepted : collection of str
            Participants whose file may have changed, but not its states.

        Raises
        ------
        ModelError
            With a problem for each difference.
        """
        present, saved = run.identity, self.tree["identity"]
        problems = [
            cosim.Problem(
                f"participants.{name}", str(cosim.LookUpError("participant", name, present["participants"]))
            )
            for name in accepted
            if name not in present["participants"]
        ]
        problems += differences(saved, present, accepted)
        index = self.tree["index"]
        if not problems and (index > points.count or points.time(index) != self.time):
            text = f"was made at t = {self.time:.9g} s, no communication point up to {points.until:.9g} s"
            problems.append(cosim.Problem("checkpoint", text))
        if problems:
            raise cosim.ModelError(problems)

    def check_states(self, run: SimulationRun) -> None:
        """Refuse, before the run, participants that reject their own saved states.

        Raises
        ------
        ModelError
            A problem for each of them.
        """
        problems = []
        for name, data in self.tree["participants"].items():
            try:
                run.coupled.participants[name].deserialize(data)
            except Exception as error:  # of foreign code
                kind = "" if isinstance(error, cosim.CosimError) else f"{type(error).__name__}: "
                text = f"cannot be saved in a checkpoint: it rejects its own saved state: {kind}{error}"
                problems.append(cosim.Problem(f"participants.{name}", text))
        if problems:
            raise cosim.ModelError(problems)

    def restore(self, run: SimulationRun) -> int:
        """Restore everything in a run that has been initialized. Returns its communication point."""
        coupled, tree = run.coupled, self.tree
        states = tree["participants"]
        if not any(isinstance(state, StateInMemory) for state in states.values()):
            check_tree(run, tree)  # it comes from a file
        try:
            for name, data in states.items():
                participant = coupled.participants[name]
                is_in_memory = isinstance(data, StateInMemory)
                token = data.token if is_in_memory else coupled.guarded(name, participant.deserialize, data)
                coupled.guarded(name, participant.restore, token)
            restore_tree(run, tree)
            index = int(tree["index"])
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            text = "is damaged: what it holds cannot be put back; begin the run anew"
            raise cosim.CosimError(f"the checkpoint {text}") from error
        return index
