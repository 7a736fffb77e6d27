"""Model Exchange FMUs as continuous-time systems: one evaluation for all integrators."""
