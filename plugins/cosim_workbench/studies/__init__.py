"""Studies: points of a model, what is kept of them, calibration, optimization."""

from cosim_workbench.studies.calibration import Calibration as Calibration
from cosim_workbench.studies.fit import Fit as Fit
from cosim_workbench.studies.optimization import Optimization as Optimization
from cosim_workbench.studies.optimum import Optimum as Optimum
from cosim_workbench.studies.study import Study as Study
from cosim_workbench.studies.study_table import StudyTable as StudyTable

__all__ = [
    "Calibration",
    "Fit",
    "Optimization",
    "Optimum",
    "Study",
    "StudyTable",
]
