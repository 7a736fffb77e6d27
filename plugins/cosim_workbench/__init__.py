"""What people touch: model files, commands, results, pictures."""

from cosim_workbench.model_file import ModelFile as ModelFile
from cosim_workbench.model_file_error import ModelFileError as ModelFileError
from cosim_workbench.toml_lines import toml_lines as toml_lines
