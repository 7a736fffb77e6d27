"""The calls of one Model Exchange FMU in continuous-time mode, from compiled code."""
