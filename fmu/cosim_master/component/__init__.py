"""Model Exchange FMUs as components of models."""
