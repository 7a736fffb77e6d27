"""The facts that have to be the same in two runs if one continues from a checkpoint of the other."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import cosim
from cosim.kit import file_digest
from cosim_master.algorithms import exchange_layout
from cosim_master.coupling.coupling import file_paths

if TYPE_CHECKING:
    from cosim_master.run.simulation_run import SimulationRun


def identity(run: SimulationRun) -> dict[str, Any]:
    """The facts that have to be the same in a run that continues, by their names in messages."""
    loop = run.loop
    paths = {**file_paths(loop.participants), **loop.python_files}
    return {
        "participants": {
            name: [description.kind, "" if (path := paths[name]) is None else file_digest(path)]
            for name, description in loop.descriptions.items()
        },
        "connections": [f"{link} {link.factor!r} {link.offset!r}" for link in loop.all_links],
        "start values": repr({name: dict(values) for name, values in loop.start_values.items()}),
        "tolerances": repr(dict(loop.tolerances)),
        "algorithms": [type(run.algorithm).__name__, repr(dict(loop.options))],
        "layouts of what algorithms remember": exchange_layout.digest(),
        "communication steps": [loop.start, loop.step, repr(dict(loop.step_multiple))],
        "orders": list(loop.order),
        "recorded signals": run.recorder.paths,
        "derivatives": [] if run.derivatives is None else run.derivatives.by,
    }


def differences(
    saved: Mapping[str, Any], present: Mapping[str, Any], accepted: Collection[str]
) -> list[cosim.Problem]:
    """A problem for each difference between the identities of a saved run and of the present one.

    Parameters
    ----------
    saved, present : mapping of str to object
        See `identity`.
    accepted : collection of str
        Participants whose file may have changed.
    """
    problems = []
    for name, value in present.items():
        value_before = saved.get(name)
        if value_before == value:
            continue
        if name == "participants" and list(value) == list(value_before or ()):
            problems += _changed_participants(saved[name], value, accepted)
        else:
            text = f"{name} differ: {_short(value_before)}, here {_short(value)}"
            problems.append(cosim.Problem("checkpoint", text))
    return problems


def _changed_participants(
    saved: Mapping[str, Any], present: Mapping[str, Any], accepted: Collection[str]
) -> list[cosim.Problem]:
    """A problem for each participant of another kind, or of another file that is not accepted."""
    problems = []
    for name, (kind, file) in present.items():
        kind_before, file_before = saved[name]
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
    """A file and its digest as text: ``plant.fmu (sha256 1a2b3c4d…)``."""
    if not isinstance(digest, Mapping):
        return "no file"
    return f"{digest.get('file')} (sha256 {digest.get('sha256', '')[:8]}…)"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}…"
