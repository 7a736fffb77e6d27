"""Writing an assembled system as an FMU for FMI 2.0 Co-Simulation, and running it inside of one.

`PythonFmuExporter` writes the archive. What runs inside it is `slave`, a script that checks where it
has come to before anything of ours is imported, and `FmuInstance`, which holds the system.
"""
