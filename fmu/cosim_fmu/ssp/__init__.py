"""SSP 1.0 and 2.0: read into a co-simulation, and written."""

from cosim_fmu.ssp.package import Package as Package
from cosim_fmu.ssp.ssp_run import SspRun as SspRun
