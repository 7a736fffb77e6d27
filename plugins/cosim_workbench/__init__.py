"""The tools for users: model files, commands, results, pictures."""

from typing import TYPE_CHECKING

import cosim.kit

if TYPE_CHECKING:
    from cosim_workbench.model_file import ModelFile as ModelFile
    from cosim_workbench.model_file_error import ModelFileError as ModelFileError
else:
    __getattr__, __dir__ = cosim.kit.late_names(__name__)
