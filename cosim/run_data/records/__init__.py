"""The records in the arrays of a run, declared once for the tables, the Step and its readers.

`Run` (`cosim.run_data.run`) shows them: ``run.clock.time``, ``run.handlers``, ``run.witnesses[i].level`` …
and says in which array each of them lies.

============ ==========================================================================================
`evaluation` how far the cache of a run is evaluated, and which rows of the schedule are called together
`clock`      the time of a run, and how its steps go on: now, in this call, and in the calls to come
`handlers`   handlers: their causes and times, the variables that they may change, their answers
`past`       what a run remembers of its past: auto-update variables, and the blocks that read histories
`witnesses`  witnesses: what their declaration fixes, their memory, and the search for their crossings
`holds`      witnesses that are held at zero, and what holds them there
`recording`  recording: which values, at which times, and how much of the buffers is used
`plan`       what the arrays `program` and `places` begin with
============ ==========================================================================================
"""
