"""Reading model files that are written in TOML."""

from __future__ import annotations

from pathlib import Path

import cosim
from cosim_workbench.model_file import ModelFile


class TomlReader(cosim.ModelReader):
    """Reads model files in TOML; their tables are those that plugins registered as model tables."""

    suffixes = (".toml",)

    def read(self, path: Path) -> cosim.Model:
        """The model; faults that are found only when it is built have their lines too."""
        return ModelFile.read(path)
