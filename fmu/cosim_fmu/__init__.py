"""FMI 2.0: systems exported as FMUs, and FMUs run together.

`cosim_fmu.export` writes an assembled system as an FMU for Co-Simulation; `cosim_fmu.master` runs FMUs and
other participants together. Neither uses the other.
"""
