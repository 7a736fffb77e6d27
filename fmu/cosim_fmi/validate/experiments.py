"""Experiments with reference results that an FMU brings with it: the layered standard fmi-ls-ref.

Nothing but the standard library is used: the process that runs an FMU imports this file, too.

References
----------
FMI Layered Standard References (fmi-ls-ref) 1.0.0-alpha.1; Modelica Association, Experiments Format
(ma-hs-experiments).
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

NAME = "org.fmi-standard.fmi-ls-ref"
VERSION = "1.0.0-alpha.1"
PLACE = f"extra/{NAME}"
MANIFEST = "fmi-ls-manifest.xml"
NAMESPACE = "http://fmi-standard.org/fmi-ls-manifest"
ROLES = ("experiment", "experiment/smoke-test", "experiment/validation")
FORMAT = "application/x-ma-hs-experiments"
FORMATS = (FORMAT, "application/x-ma-ls-experiments")
PARAMETER_SET = "application/x-ssp-parameter-set"
PARTS = ("TransientSimulation", "Parameters", "Stimuli", "References", "Annotations")
OURS = "io.github.cosim-framework"
"""Type of the annotation that says how exactly results shall agree."""
RELATIVE = 1e-3
"""The tolerance relative to the range of a reference, if an experiment gives none."""
LARGEST = 64 * 2**20
"""Bytes of a file that is read."""
Experiment = dict[str, Any]
"""Name, times, tolerance, parameters, stimuli and references, in types that JSON has."""


def read_experiments(folder: Path) -> tuple[list[Experiment], list[str]]:
    """The experiments of an unpacked FMU, and what is wrong with their files, in sentences.

    Parameters
    ----------
    folder : Path
        Not trusted: files outside of it are not read.
    """
    experiments: list[Experiment] = []
    faults: list[str] = []
    manifest = folder / PLACE / MANIFEST
    if not manifest.is_file():
        return experiments, faults
    try:
        root = _document(manifest)
        for related in (e for e in root if _tag(e) == "Related"):
            if related.get("role") in ROLES and related.get("type") in FORMATS:
                file = _beside(folder, manifest, related.get("source", ""))
                for element in (e for e in _document(file) if _tag(e) == "Experiment"):
                    try:
                        experiments.append(_experiment(folder, file, element))
                    except ValueError as error:
                        faults.append(f"experiment {element.get('name', '?')}: {error}")
    except ValueError as error:
        faults.append(str(error))
    return experiments, faults


def _experiment(folder: Path, file: Path, element: Element) -> Experiment:
    parts = {_tag(child): child for child in element}
    settings = dict(element.attrib)
    if "TransientSimulation" in parts:
        settings |= parts["TransientSimulation"].attrib
    others = [tag for tag in parts if tag not in PARTS]
    if others:
        raise ValueError(f"{others[0]} is not run, only a transient simulation")
    if "References" not in parts:
        raise ValueError("has no references")
    start = _number(settings, "startTime", 0.0)
    references = _series(folder, file, parts["References"])
    stop = _number(settings, "stopTime", references["time"][-1])
    step = _number(settings, "stepSize", (stop - start) / 100.0)
    if not (start < stop and 0.0 < step <= stop - start) or (stop - start) / step > 1e7:
        raise ValueError(f"its times cannot be run: from {start:g} s to {stop:g} s in steps of {step:g} s")
    tolerance = _number(settings, "tolerance", math.nan)
    comparison = next((e for e in parts["References"].iter() if _tag(e) == "Comparison"), None)
    return {
        "name": element.get("name", "?"),
        "start": start,
        "stop": stop,
        "step": step,
        "tolerance": tolerance if 0.0 < tolerance < 1.0 else None,
        "parameters": _parameters(folder, file, parts["Parameters"]) if "Parameters" in parts else {},
        "stimuli": _series(folder, file, parts["Stimuli"]) if "Stimuli" in parts else {},
        "references": references,
        "relative": RELATIVE if comparison is None else _number(comparison.attrib, "relative", RELATIVE),
    }


def _number(attributes: Mapping[str, str], name: str, instead: float) -> float:
    text = attributes.get(name)
    if text is None:
        return instead
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{name} is {text!r}, needs a number") from None


def _parameters(folder: Path, file: Path, element: Element) -> dict[str, str]:
    """Texts of the values of a parameter set (SSV), by name."""
    if element.get("type", PARAMETER_SET) != PARAMETER_SET:
        raise ValueError(f"parameters of type {element.get('type')} cannot be read")
    root = _document(_beside(folder, file, element.get("source", "")))
    texts = {}
    for parameter in (e for e in root.iter() if _tag(e) == "Parameter"):
        for value in parameter:
            if "value" in value.attrib:
                texts[parameter.get("name", "")] = value.attrib["value"]
    return texts


def _series(folder: Path, file: Path, element: Element) -> dict[str, list[float]]:
    """The signals of a CSV file: times in the first column, s."""
    if element.get("type", "text/csv") != "text/csv":
        raise ValueError(f"values of type {element.get('type')} cannot be read")
    path = _beside(folder, file, element.get("source", ""))
    rows = list(csv.reader(io.StringIO(_text(path))))
    if len(rows) < 2 or len(rows[0]) < 2:
        raise ValueError(f"{path.name} has no signals")
    names = ["time", *(name.strip() for name in rows[0][1:])]
    series: dict[str, list[float]] = {name: [] for name in names}
    for line, row in enumerate(rows[1:], start=2):
        if not row:
            continue
        if len(row) != len(names):
            raise ValueError(f"{path.name}:{line}: has {len(row)} values, needs {len(names)}")
        for name, text in zip(names, row, strict=True):
            series[name].append(value_of(text, f"{path.name}:{line}"))
    if any(b < a for a, b in zip(series["time"], series["time"][1:], strict=False)):
        raise ValueError(f"{path.name}: its times fall")
    return series


def value_of(text: str, where: str) -> float:
    """A number, or a truth value as a number."""
    word = text.strip().lower()
    if word in ("true", "false"):
        return float(word == "true")
    try:
        return float(word)
    except ValueError:
        raise ValueError(f"{where}: {text!r} is not a number") from None


def _beside(folder: Path, file: Path, address: str) -> Path:
    """The file at an address relative to another file; it has to be inside of the folder."""
    parts = urlsplit(address)
    path = (file.parent / unquote(parts.path)).resolve()
    if parts.scheme or parts.netloc or not parts.path or not path.is_relative_to(folder.resolve()):
        raise ValueError(f"{address!r} is not a file of this FMU")
    if not path.is_file():
        raise ValueError(f"{address} is missing")
    return path


def _text(path: Path) -> str:
    if path.stat().st_size > LARGEST:
        raise ValueError(f"{path.name} is larger than {LARGEST / 2**20:.0f} MiB")
    try:
        return path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path.name} cannot be read: {error}") from None


def _document(path: Path) -> Element:
    text = _text(path)
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise ValueError(f"{path.name} has a document type, which is refused")
    try:
        return ElementTree.fromstring(text.encode())
    except ElementTree.ParseError as error:
        raise ValueError(f"{path.name} is not XML: {error}") from None


def _tag(element: Element) -> str:
    return element.tag.rpartition("}")[2]
