"""TOML files whose faults are said with file and line; public, for model files and scenarios alike."""

from cosim_toml.toml_file import TomlFile as TomlFile
from cosim_toml.toml_lines import KeyPath as KeyPath

__all__ = [
    "KeyPath",
    "TomlFile",
]
