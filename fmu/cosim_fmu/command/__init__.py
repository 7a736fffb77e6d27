"""The command that runs scenarios and SSPs."""
