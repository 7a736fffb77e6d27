"""Kinds that the workbench's commands ask for: files described, checked, exported; what studies run; kits.

Public: plugins that bring such classes import them from here.
"""

from cosim_workbench.contracts.contract_kit import ContractKit as ContractKit
from cosim_workbench.contracts.describer import Describer as Describer
from cosim_workbench.contracts.file_exporter import FileExporter as FileExporter
from cosim_workbench.contracts.file_schema import FileSchema as FileSchema
from cosim_workbench.contracts.study_subject import StudySubject as StudySubject

__all__ = [
    "ContractKit",
    "Describer",
    "FileExporter",
    "FileSchema",
    "StudySubject",
]
