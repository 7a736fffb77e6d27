"""The right-hand side of Model Exchange FMUs, called from compiled code."""
