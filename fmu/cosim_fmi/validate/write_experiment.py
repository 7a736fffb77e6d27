"""The files of an experiment of ours in an FMU: the smoke test that `cosim validate` runs."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from cosim_fmi.validate.experiments import FORMAT, MANIFEST, NAME, NAMESPACE, OURS, PLACE, VERSION, Experiment

SETTINGS = "smoke-test.exp"
REFERENCES = "smoke-test.csv"
STANDARD = "Layered Standard providing information on related files included in an FMU."
"""The description of the standard, in its own words."""


def write_experiment(experiment: Experiment) -> dict[str, bytes]:
    """The files of one experiment, a smoke test, by their names in the archive."""
    return {
        f"{PLACE}/{MANIFEST}": _xml_text(_manifest(experiment)),
        f"{PLACE}/{SETTINGS}": _xml_text(_settings(experiment)),
        f"{PLACE}/{REFERENCES}": _csv_text(experiment["references"]),
        "documentation/fmi-ls-ref.txt": (
            f"{experiment['description']}. Results agree where they differ from {REFERENCES} by no more than "
            f"{experiment['relative']:g} of the range of the signal. cosim validate runs it.\n"
        ).encode(),
    }


def _manifest(experiment: Experiment) -> Element:
    """The manifest of the layered standard, which names the settings."""
    ElementTree.register_namespace("fmi-ls", NAMESPACE)
    about = {"fmi-ls-name": NAME, "fmi-ls-version": VERSION, "fmi-ls-description": STANDARD}
    manifest = Element("fmiReferences", {f"{{{NAMESPACE}}}{key}": text for key, text in about.items()})
    ElementTree.SubElement(
        manifest,
        "Related",
        {
            "type": FORMAT,
            "source": SETTINGS,
            "role": "experiment/smoke-test",
            "description": experiment["description"],
        },
    )
    return manifest


def _settings(experiment: Experiment) -> Element:
    """Times, steps and tolerance of the run, and where its reference results lie."""
    root = Element("Experiments", {"name": "Smoke tests"})
    about = {"name": experiment["name"], "description": experiment["description"]}
    if experiment["tolerance"] is not None:
        about["tolerance"] = repr(experiment["tolerance"])
    entry = ElementTree.SubElement(root, "Experiment", about)
    ElementTree.SubElement(
        entry,
        "TransientSimulation",
        {
            "startTime": repr(experiment["start"]),
            "stopTime": repr(experiment["stop"]),
            "stepSize": repr(experiment["step"]),
        },
    )
    references = ElementTree.SubElement(entry, "References", {"source": REFERENCES})
    annotations = ElementTree.SubElement(references, "Annotations")
    annotation = ElementTree.SubElement(annotations, "Annotation", {"type": OURS})
    ElementTree.SubElement(annotation, "Comparison", {"relative": repr(experiment["relative"])})
    return root


def _csv_text(series: Mapping[str, Sequence[float]]) -> bytes:
    """A table with a column for each series."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(series)
    writer.writerows([repr(value) for value in row] for row in zip(*series.values(), strict=True))
    return text.getvalue().encode()


def _xml_text(root: Element) -> bytes:
    """A document of XML, indented."""
    ElementTree.indent(root)
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, "utf-8") + b"\n"
