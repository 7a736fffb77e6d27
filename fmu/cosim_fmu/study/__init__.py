"""Scenarios in studies: run again and again with other values."""
