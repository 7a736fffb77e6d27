"""Models in files: the plugin that reads a file is found by the ending of its name."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from cosim.errors import CosimError
from cosim.registration.registry import registry
from cosim_compiler.collection import without_collection

log = logging.getLogger("cosim.model")


def read_model(path: Path) -> Any:
    """The model that is written in a file.

    Raises
    ------
    ModelError
        All faults of the file together, each with its line; also when it cannot be read.
    CosimError
        No installed plugin reads such files, or several do.
    """
    readers = registry().entries("model_reader")
    fitting = [entry for entry in readers if path.suffix.lower() in entry.suffixes]
    if len(fitting) == 1:
        with without_collection():
            model = fitting[0].cls().read(path)
        log.info("read %s", path)
        return model
    if fitting:
        owners = " and ".join(f"{entry.owner} as {entry.id}" for entry in fitting)
        raise CosimError(f"{path}: models that end in '{path.suffix}' are read by {owners}: uninstall one")
    endings = ", ".join(dict.fromkeys(suffix for entry in readers for suffix in entry.suffixes))
    hint = f"There are: {endings}." if endings else "Installed: `cosim plugins`."
    raise CosimError(f"{path}: no plugin reads models that end in '{path.suffix}'. {hint}")
