"""Studies: points of a model, what is kept of them, calibration."""

from cosim_workbench.studies.calibration import Calibration as Calibration
from cosim_workbench.studies.fit import Fit as Fit
from cosim_workbench.studies.study import Study as Study
from cosim_workbench.studies.study_table import StudyTable as StudyTable

__all__ = [
    "Calibration",
    "Fit",
    "Study",
    "StudyTable",
]
