"""Checking FMUs, ours or not: what they declare, and what they do when they are run.

`validate_command` checks the file without running anything of it, then has `probe` run it in a process of its
own, which may die without harm.
"""
