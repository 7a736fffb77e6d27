"""The data of a run: its records, the arrays in which they lie, and how a run shows them.

============= =====================================================================================
`records`     the records: clock, agenda, handlers, witnesses, holds, recording
`run`         a run: a line for each record and view, with the array in which it lies
`run_parts`   how a line of `run` becomes the function that shows it
============= =====================================================================================
"""
