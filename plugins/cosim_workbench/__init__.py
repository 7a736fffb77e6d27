"""What people touch: model files, commands, results, pictures."""

from cosim_workbench.model_file import ModelFile as ModelFile
from cosim_workbench.model_file_error import ModelFileError as ModelFileError
