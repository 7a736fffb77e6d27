"""What FMUs of both kinds show: variables, types, units, documentation, the archive."""
