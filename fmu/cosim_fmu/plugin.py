"""What this package registers."""

import cosim
from cosim_fmu.export.pythonfmu_exporter import PythonFmuExporter


@cosim.hookimpl
def cosim_register_exporters(register: cosim.Register) -> None:
    """The exporter behind `Model.export_fmu`."""
    register("fmu.pythonfmu", PythonFmuExporter)
