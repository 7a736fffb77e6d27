"""Model Exchange FMUs as continuous-time systems: one evaluation, whoever integrates it."""
