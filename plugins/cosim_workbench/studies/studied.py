"""The subject of a study or a calibration: a model, or a subject of a plugin."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import cosim
from cosim_workbench.contracts import StudySubject


def studied(subject: Any, settings: Mapping[str, Any]) -> cosim.Model | StudySubject:
    """A model as it is; for anything else the subject that takes it.

    Parameters
    ----------
    subject : Model, StudySubject, path or object
        A path is that of a model or of what a plugin reads, such as a scenario; an object what a plugin
        takes, such as a co-simulation.
    settings : mapping of str to object
        The settings of its runs, for a subject that is made here.

    Raises
    ------
    ModelError
        A file is not a model; no plugin accepts an object; a subject that exists already gets settings.
    """
    if isinstance(subject, cosim.Model):
        return subject
    if isinstance(subject, StudySubject):
        if settings:
            text = "is not for a study of this: give it where the subject is made"
            raise cosim.ModelError([cosim.Problem(name, text) for name in settings])
        return subject
    is_path = isinstance(subject, (str, PathLike))
    for entry in cosim.registry().entries("study_subject"):
        subject_class: type[StudySubject] = entry.cls
        if subject_class.reads(Path(subject)) if is_path else subject_class.takes(subject):
            return subject_class(Path(subject) if is_path else subject, settings)
    if is_path:
        return cosim.Model.from_file(subject)
    text = f"is a {type(subject).__name__}, needs a model, a co-simulation, or the file of one"
    raise cosim.ModelError.of("model", text)
