"""FMUs for Co-Simulation that carry Python packages (pythonfmu).

`PythonFmuExporter` writes the archive. What runs inside it is `slave`, a script that checks where it
has come to before anything of ours is imported, and `ExportedSystem`, which holds the system.
"""
