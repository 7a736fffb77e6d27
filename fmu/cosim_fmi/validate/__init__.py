"""Checking FMUs, ours or not: what they declare, and what they do when they are run.

`check_fmu` looks at the file without running anything of it, then has `probe` run it in a process of
its own, which may die without harm.
"""
