"""The subject of a study or a calibration: a model, or a subject of a plugin."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import cosim
from cosim_workbench.contracts import StudySubject


def studied(subject: Any, settings: Mapping[str, Any]) -> cosim.Model | StudySubject:
    """Return the model itself, or the `StudySubject` of the plugin that accepts `subject`.

    Parameters
    ----------
    subject : Model, StudySubject, path or object
        The path of a model file or of a file that a plugin reads (a scenario), or an object that a plugin
        accepts (a co-simulation).
    settings : mapping of str to object
        The settings of the runs; not allowed if `subject` is a `StudySubject` already.

    Raises
    ------
    ModelError
        The file is not a model, no plugin accepts the object, or there are settings for a `StudySubject`.
    """
    if isinstance(subject, cosim.Model):
        return subject
    if isinstance(subject, StudySubject):
        if settings:
            text = "cannot be set here: pass it to the constructor of the study subject"
            raise cosim.ModelError([cosim.Problem(name, text) for name in settings])
        return subject
    is_path = isinstance(subject, (str, PathLike))
    candidate = Path(subject) if is_path else subject
    for entry in cosim.registry().entries("study_subject"):
        subject_class: type[StudySubject] = entry.cls
        if subject_class.reads(candidate) if is_path else subject_class.takes(candidate):
            return subject_class(candidate, settings)
    if is_path:
        return cosim.Model.from_file(subject)
    text = f"is a {type(subject).__name__}, needs a model, a co-simulation, or the file of one"
    raise cosim.ModelError.of("model", text)
