"""The interface of FMUs of both kinds: variables, types, units, documentation, the archive."""
