"""The record of a run: rows of values, in memory and in files."""
