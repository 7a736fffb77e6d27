"""Variables of an FMU, read and written: from Python, and by address from compiled code."""
