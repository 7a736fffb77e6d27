"""The files of an experiment of ours in an FMU: the smoke test that `cosim validate` runs."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from cosim_fmi.validate.experiments import FORMAT, MANIFEST, NAME, NAMESPACE, OURS, PLACE, VERSION, Experiment


def write_experiment(experiment: Experiment) -> dict[str, bytes]:
    """The files of one experiment, a smoke test, by their names in the archive."""
    settings = {
        "startTime": repr(experiment["start"]),
        "stopTime": repr(experiment["stop"]),
        "stepSize": repr(experiment["step"]),
    }
    root = Element("Experiments", {"name": "Smoke tests"})
    about = {"name": experiment["name"], "description": experiment["description"]}
    if experiment["tolerance"] is not None:
        about["tolerance"] = repr(experiment["tolerance"])
    one = ElementTree.SubElement(root, "Experiment", about)
    ElementTree.SubElement(one, "TransientSimulation", settings)
    references = ElementTree.SubElement(one, "References", {"source": "smoke-test.csv"})
    annotations = ElementTree.SubElement(references, "Annotations")
    annotation = ElementTree.SubElement(annotations, "Annotation", {"type": OURS})
    ElementTree.SubElement(annotation, "Comparison", {"relative": repr(experiment["relative"])})
    attributes = {
        f"{{{NAMESPACE}}}fmi-ls-name": NAME,
        f"{{{NAMESPACE}}}fmi-ls-version": VERSION,
        f"{{{NAMESPACE}}}fmi-ls-description": "Layered Standard providing information on related files "
        "included in an FMU.",
    }
    manifest = Element("fmiReferences", attributes)
    related = {"type": FORMAT, "source": "smoke-test.exp", "role": "experiment/smoke-test"}
    ElementTree.SubElement(manifest, "Related", {**related, "description": experiment["description"]})
    ElementTree.register_namespace("fmi-ls", NAMESPACE)
    text_of_standard = (
        f"{experiment['description']}. Results agree where they differ from smoke-test.csv by no more than "
        f"{experiment['relative']:g} of the range of the signal. cosim validate runs it.\n"
    )
    return {
        f"{PLACE}/{MANIFEST}": _bytes(manifest),
        f"{PLACE}/smoke-test.exp": _bytes(root),
        f"{PLACE}/smoke-test.csv": _table(experiment["references"]),
        "documentation/fmi-ls-ref.txt": text_of_standard.encode(),
    }


def _table(series: Mapping[str, Sequence[float]]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(series)
    writer.writerows([repr(value) for value in row] for row in zip(*series.values(), strict=True))
    return text.getvalue().encode()


def _bytes(root: Element) -> bytes:
    ElementTree.indent(root)
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, "utf-8") + b"\n"
