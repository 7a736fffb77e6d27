"""What a run leaves: its result, its figures, the report about its coupling."""
