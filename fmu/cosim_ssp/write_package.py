"""A co-simulation as an SSP."""

from __future__ import annotations

import json
import posixpath
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar
from urllib.parse import quote

import cosim
from cosim_export.interface.archive import check_place, write_archive
from cosim_export.interface.names import c_identifier, element_name
from cosim_fmi.fmu_archive import leaves_folder
from cosim_master.abilities import ExportsFmu
from cosim_master.coupling.connection import Connection
from cosim_master.coupling.coupling import Coupling
from cosim_master.coupling.link import Link
from cosim_master.participants.component_participant import ComponentParticipant
from cosim_ssp.package import DEFAULT, DOCUMENTS, free_place
from cosim_ssp.read_settings import OURS, OURS_NAMESPACE, TOOLS
from cosim_ssp.schema_documents import make_strict
from cosim_ssp.write_parameters import add_values, number_text
from cosim_ssp.write_structure import new_structure
from cosim_ssp.xml_document import (
    Element,
    annotate,
    child,
    child_or_new,
    local_name,
    parse_document,
    to_bytes,
)

Coupled = TypeVar("Coupled", bound=Coupling)


def with_exported_systems(loop: Coupled, folder: Path, options: Mapping[str, Any]) -> Coupled:
    """A co-simulation with FMUs in place of systems; the given one if it has no systems.

    Parameters
    ----------
    loop : Coupling
        Its class makes another one.
    folder : Path
        The folder of the FMUs, which have to stay while they are in use.
    options : mapping of str to object
        For `Model.export_fmu`: ``native``, ``platforms``, ``fmi`` …

    Raises
    ------
    ModelError
        Everything that hinders an export, with the names of the participants.
    """
    systems = {n: p for n, p in loop.participants.items() if isinstance(p, ExportsFmu)}
    if not systems:
        return loop
    participants = {**loop.participants, **_exported(loop, systems, folder, options)}
    names = {(name, old): new for name in systems for old, new in _new_names(loop, name).items()}
    make: Callable[..., Coupled] = type(loop)
    exchanged = make(
        participants,
        [_connection(link, names) for link in loop.all_links],
        loop.algorithm if loop.algorithm is not None else "jacobi",
        loop.step,
        options=dict(loop.options),
        starts={
            f"{name}.{names.get((name, variable), variable)}": value
            for name, values in loop.start_values.items()
            for variable, value in values.items()
        },
        start=loop.start,
        tolerance=loop.tolerance,
        tolerances={name: tolerance for name, tolerance in loop.tolerances.items() if tolerance is not None},
        feedthrough={name: declared for name, declared in loop.feedthrough.items() if name not in systems},
        steps={name: multiple * loop.step for name, multiple in loop.step_multiple.items()},
        threads=loop.threads,
    )
    files = {name: file for name, file in loop.python_files.items() if name not in systems}
    exchanged.read_from_scenario(loop.until, files, loop.run_options)
    return exchanged


def _exported(
    loop: Coupling, systems: Mapping[str, ExportsFmu], folder: Path, options: Mapping[str, Any]
) -> dict[str, Any]:
    """FMUs of systems by the names of their participants."""
    exported: dict[str, Any] = {}
    problems: list[cosim.Problem] = []
    for number, (name, participant) in enumerate(systems.items()):
        path = folder / str(number) / f"{c_identifier(name)}.fmu"
        settings = {"also": _connected_outputs(loop, name), "all": True, **options}
        try:
            exported[name] = participant.export_fmu(path, **settings)
        except cosim.ModelError as error:
            problems += [cosim.Problem(f"participants.{name}", str(fault)) for fault in error.problems]
        except cosim.LookUpError as error:
            problems.append(cosim.Problem(f"participants.{name}", str(error)))
    if problems:
        raise cosim.ModelError(problems)
    return exported


def _connected_outputs(loop: Coupling, name: str) -> list[str]:
    """The outputs of a participant that others read."""
    return [link.output for link in loop.all_links if link.source == name]


def _new_names(loop: Coupling, name: str) -> dict[str, str]:
    """The names that variables have in the FMU, where they are others."""
    participant, description = loop.participants[name], loop.descriptions[name]
    path_of = participant.path_of if isinstance(participant, ComponentParticipant) else str
    names = {variable: path_of(variable) for variable in description.variables}
    for array, (shape, elements) in description.arrays.items():
        for index, element in enumerate(elements):
            names[element] = element_name(path_of(array), shape, index)
    return names


def _connection(link: Link, names: Mapping[tuple[str, str], str]) -> Connection:
    """The connection with numbers in place of units: both sides have units of their own."""
    start, end = (f"{end[0]}.{names.get(end, end[1])}" for end in (link.start, link.end))
    table = tuple((link.table or {}).items())
    return Connection(start, end, link.factor, link.offset, False, table, reads_any=True)


def write_ssp(
    loop: Any, path: Path, until: float | None = None, export: Mapping[str, Any] | None = None
) -> Path:
    """Write an SSP; see `CoSimulation.to_ssp`.

    Raises
    ------
    ModelError
        Participants that are no FMUs, and systems that cannot be exported.
    CosimError
        The file cannot be written.
    """
    check_place(path, ".ssp")
    if loop.ssp is not None:
        write_archive(path, _read_before(loop, until))
        return path
    with tempfile.TemporaryDirectory(prefix="cosim_ssp_") as folder:
        loop = with_exported_systems(loop, Path(folder), export or {})
        root, files = new_structure(loop, path.stem)
        _set_experiment(root, loop, loop.until if until is None else until, _settings(loop))
        for tool in TOOLS:
            tool.write_step(root, number_text(loop.step))
        make_strict(root, lambda element, text: None)
        files[DEFAULT] = to_bytes(root, pretty=True)
        write_archive(path, files)
    return path


def _read_before(loop: Any, until: float | None) -> dict[str, bytes | Path]:
    """All files of the SSP from which the co-simulation was made, with the changes since then."""
    package, settings = loop.ssp.package, loop.ssp.settings
    if loop.ssp.inputs is not None:
        text = "no SSP can hold values over time: read it without them to write it"
        raise cosim.ModelError.of(loop.ssp.inputs, text)
    places = _places(package)
    files: dict[str, bytes | Path] = {place: package.file(name) for name, place in places.items()}
    for name, place in places.items():
        if Path(name).suffix.lower() in DOCUMENTS:
            path = package.file(name)
            findings: list[tuple[str, str]] = []
            root = parse_document(
                path.read_bytes(), name, lambda *finding, findings=findings: findings.append(finding)
            )
            mended = bool(findings)  # the reader has told it
            say = partial(_say, package, name)
            if name == loop.ssp.variant:
                mended = _add_changes(root, loop, until, settings) or mended
            mended = _move_sources(root, name, package, places) or mended
            if make_strict(root, say) or mended:
                files[place] = to_bytes(root)
    if loop.ssp.variant not in files:
        raise cosim.ModelError.of(str(package.path), f"variant {loop.ssp.variant} is no longer in the file")
    if package.is_single and loop.ssp.variant != DEFAULT:
        files[DEFAULT] = files.pop(loop.ssp.variant)
    return files


def _say(package: Any, name: str, element: Element, text: str) -> None:
    package.say(f"{name}:{element.sourceline}", f"written otherwise than read: {text}")


def _names(package: Any) -> list[str]:
    """The files of a package; of a single SSD only those that it refers to."""
    if package.is_single:
        used = {package.path.name, *(name for name in package.documents if (package.folder / name).is_file())}
        for name in list(used):
            root = package.documents.get(name)
            if root is not None:
                used |= _sources(root, name, package)
        return sorted(used)
    folder = package.folder
    files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    return sorted(path.relative_to(folder).as_posix() for path in files)


def _places(package: Any) -> dict[str, str]:
    """The places of a package's files in the archive; files from outside are put into ``resources``."""
    names = _names(package)
    places = {name: name for name in names if not leaves_folder(name)}
    for name in names:
        if name not in places:
            places[name] = free_place(PurePosixPath(name), places.values())
    return places


def _move_sources(root: Element, name: str, package: Any, places: Mapping[str, str]) -> bool:
    """Let a document refer to files by their places in the archive. Returns whether anything changed."""
    changed = False
    for element, key, file, fragment in _references(root, name, package):
        place = places.get(file, file)
        if (places[name], place) != (name, file):
            moved = quote(posixpath.relpath(place, posixpath.dirname(places[name]) or "."))
            element.set(key, f"{moved}#{quote(fragment)}" if fragment else moved)
            _say(package, name, element, f"{file} is {place} in the archive")
            changed = True
    return changed


def _sources(root: Element, name: str, package: Any) -> set[str]:
    """Files in the package that a document names."""
    return {file for _, _, file, _ in _references(root, name, package)}


def _references(root: Element, name: str, package: Any) -> Iterator[tuple[Element, str, str, str]]:
    """Elements that name an existing file, with the attribute, the file and the fragment."""
    for element in root.iter():
        for key in ("source", "iconSource"):
            source = element.get(key) if local_name(element) else None
            if source and element.get("sourceBase", "SSD") != "component":
                with suppress(ValueError):
                    file, fragment = package.path_of(source, name)
                    package.file(file)
                    yield element, key, file, fragment


def _settings(loop: Any) -> dict[str, str]:
    """The settings of the co-simulation, as attributes of the annotation of cosim."""
    attributes = {"step": number_text(loop.step)}
    if loop.algorithm is not None:
        with suppress(cosim.LookUpError):  # an algorithm of the user's own script
            attributes["algorithm"] = cosim.registry().owner(type(loop.algorithm)).id.removeprefix("fmu.")
    if loop.options:
        attributes["options"] = json.dumps(dict(loop.options), sort_keys=True)
    if loop.tolerance is not None:
        attributes["tolerance"] = number_text(loop.tolerance)
    return attributes


def _add_changes(root: Element, loop: Any, until: float | None, settings: Any) -> bool:
    """Add the settings that override the SSP: start values, the end, step and algorithm."""
    changed = False
    if loop.ssp.given_starts:
        top = child(root, "System")
        places = {name: ".".join(place) for place, name in loop.ssp.names.items()}
        values: dict[str, Any] = {}
        for path in loop.ssp.given_starts:
            name, _, variable = path.partition(".")
            description = loop.descriptions[name]
            for element in description.arrays.get(variable, ((), (variable,)))[1]:
                values[f"{places[name]}.{element}"] = loop.start_values[name][element]
        add_values(top, values, "start values", root.get("version", "2.0"))
        changed = True
    stop = until if until is not None else settings.stop
    if stop != settings.stop or loop.ssp.given_options:
        _set_experiment(root, loop, stop, _settings(loop) if loop.ssp.given_options else {})
        changed = True
    return changed


def _set_experiment(root: Element, loop: Any, until: float | None, settings: Mapping[str, str]) -> None:
    """Times in the default experiment; step and algorithm in annotations that the tools in use read."""
    experiment = child_or_new(root, "ssd:DefaultExperiment")
    experiment.set("startTime", number_text(loop.start))
    if until is not None:
        experiment.set("stopTime", number_text(until))
    if not settings:
        return
    notes = child_or_new(experiment, "ssd:Annotations")
    for old in [note for note in notes if note.get("type") == OURS]:
        notes.remove(old)
    annotate(experiment, OURS, "cosim:Master", OURS_NAMESPACE, **settings)
