"""A job that runs the experiments of an FMU and stores their results, without a check."""

from __future__ import annotations

import json
from pathlib import Path

from cosim_fmi.validate.check_parts import Faults, instance_of
from cosim_fmi.validate.foreign_instance import ForeignFmu

RECORD = "recording"
"""Name of the job."""
RECORDED = "recorded.json"
"""The file of the results, in the folder of the job."""


def recording(fmu: ForeignFmu) -> Faults:
    """Run the experiments of the job, and write the results to `RECORDED`; no findings."""
    for experiment in fmu.job["experiments"]:
        with instance_of(fmu) as instance:
            values = instance.run_experiment(experiment)
        (Path(fmu.job["folder"]) / RECORDED).write_text(json.dumps(values))
    yield from ()
