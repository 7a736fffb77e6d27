"""An assembled system as an FMU: with Python inside, or as a library without it."""
