"""Checks of FMUs: of their declarations, and of their behavior in runs.

`validate_command` checks the file without running anything of it, then has `probe` run it in a process of its
own, which may die without harm.
"""
