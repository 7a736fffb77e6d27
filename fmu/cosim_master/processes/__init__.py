"""Processes in which participants run, on this machine and on others, and what goes there and back."""
