"""The files of a scenario that travel in an FMU, and the co-simulation that they make there."""

from __future__ import annotations

import copy
import io
import json
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import cosim
from cosim_fmu.co_simulation import CoSimulation
from cosim_fmu.scenario.scenario import Scenario
from cosim_fmu.scenario.scenario_variant import lay_over
from cosim_master.participants.python_participant import python_reference
from cosim_signals.series import read_series
from cosim_ssp.package import DEFAULT, is_ssp
from cosim_toml.toml_file import TomlFile

FOLDER = "scenario"
"""The folder of the scenario in the resources."""
DATA = "scenario.json"
LEFT_OUT = {"participants": ("parameter_files", "parameters", "log", "log_level")}
"""Keys of tables that mean nothing in an FMU, or stand elsewhere in it."""
OUTPUT, MASTER = ("signals",), ("time_limit",)


@dataclass(frozen=True)
class CarriedScenario:
    """A scenario or an SSP with all its files.

    Attributes
    ----------
    data : dict
        Of a scenario its tables, with paths to the files; of an SSP its name and variant.
    files : dict of str to bytes
        By their names in the folder, `DATA` among them.
    """

    data: dict[str, Any]
    files: dict[str, bytes] = field(default_factory=dict)

    @classmethod
    def of(cls, path: Path, variant: str | None = None) -> CarriedScenario:
        """The files of a scenario file, or of an SSP.

        Raises
        ------
        ModelError
            A file is missing, or cannot travel.
        """
        if is_ssp(path):
            carried = cls({"ssp": "system.ssp", "variant": variant}, {"system.ssp": _archive(path)})
        else:
            source = TomlFile.read(path)
            lay_over(source, variant)
            carried = cls(copy.deepcopy(source.data))
            carried._take(Scenario.read(path, variant), path.parent)
        try:
            text = json.dumps(carried.data, indent=1, sort_keys=False)
        except TypeError as error:
            raise cosim.ModelError.of(str(path), f"cannot travel in an FMU: {error}") from None
        carried.files[DATA] = text.encode()
        return carried

    def _take(self, scenario: Scenario, folder: Path) -> None:
        data = self.data
        for name, entry in data.get("participants", {}).items():
            for key in LEFT_OUT["participants"]:
                entry.pop(key, None)
            for kind in ("fmu", "model", "type"):
                if isinstance(entry.get(kind), str):
                    entry[kind] = self._carried(folder, name, kind, entry[kind])
            if isinstance(entry.get("series"), str):
                _take_series(entry, folder)
        data.pop("parameter_files", None)
        data["parameters"] = dict(scenario.starts)
        data["output"] = {key: data.get("output", {})[key] for key in OUTPUT if key in data.get("output", {})}
        data["master"] = {key: value for key, value in data.get("master", {}).items() if key not in MASTER}

    def _carried(self, folder: Path, name: str, kind: str, what: str) -> str:
        """The entry for a file in the scenario that travels; the file is added to those that travel."""
        if kind == "type":
            reference = python_reference(what, folder)
            if reference is not None:
                self.files[reference[0].name] = _content(reference[0])
            return what
        place = f"members/{name}"
        if kind == "model":
            data = cosim.Model.from_file(folder / what).to_dict()
            self.files[f"{place}.json"] = json.dumps(data, indent=1, sort_keys=True).encode()
            return f"{place}.json"
        self.files[f"{place}.fmu"] = _content(folder / what)
        return f"{place}.fmu"


def _take_series(entry: dict[str, Any], folder: Path) -> None:
    """The values over time of a file, as a table."""
    series = read_series(folder / entry["series"], texts=True)
    entry["series"] = {
        name: [list(pair) for pair in zip(each.times.tolist(), each.values.tolist(), strict=True)]
        for name, each in series.items()
    }
    options = {"interpolation": "linear", **entry.get("options", {})}
    options["units"] = {name: each.unit for name, each in series.items()} | dict(options.get("units") or {})
    entry["options"] = options


def carried_co_simulation(folder: Path) -> CoSimulation:
    """The co-simulation that these files make, in the folder of `DATA`."""
    data = json.loads((folder / DATA).read_text("utf-8"))
    if "ssp" in data:
        return CoSimulation.from_ssp(folder / data["ssp"], data["variant"])
    return Scenario.of(TomlFile.of_data(folder / DATA, data)).couple(CoSimulation)


def members(carried: CarriedScenario) -> Iterator[str]:
    """The kinds of its participants: "fmu", "model", "series", "type", or "ssp" alone."""
    if "ssp" in carried.data:
        yield "ssp"
    for entry in carried.data.get("participants", {}).values():
        yield from (kind for kind in ("fmu", "model", "series", "type") if kind in entry)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise cosim.ModelError.of(str(path), (error.strerror or str(error)).lower()) from None


def _archive(path: Path) -> bytes:
    """An SSP as an archive; a folder becomes one."""
    if path.suffix.lower() == ".ssp":
        return _content(path)
    if not path.is_dir():
        text = f"an SSD may name files elsewhere: write it as an SSP first, cosim export {path} -o x.ssp"
        raise cosim.ModelError.of(str(path), text)
    assert (path / DEFAULT).is_file()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(p for p in path.rglob("*") if p.is_file()):
            name = PurePosixPath(file.relative_to(path).as_posix())
            archive.writestr(zipfile.ZipInfo(str(name)), _content(file))
    return packed.getvalue()
