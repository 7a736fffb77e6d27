"""FMUs without Python: systems lowered to machine code behind a small C layer."""
