"""Step(), once: kernel functions of a run, and what a run begins with.

The files in the order in which they are read:

====================================== ====================================================================
`step`                                 one step
`advance`                              a run: its beginning, its steps, its end
`run`, `records`, `plan`               what a run has; the records; what it is by its system and its method
`failures`                             why a run cannot go on
`agenda`                               scheduled times, in rational numbers
`updates`, `copies`                    handlers; copies of the variables
`evaluation`, `realize`, `touched`     evaluating, wholly or behind an event; calling the integrator
`histories`, `between`                 histories and auto-update variables; between the ends of steps
`witnesses`, `watched`                 their memory, the end of a step just past a crossing; values, rates
`crossing`, `search_points`            the first crossing inside a step; the points of the search
`forecast`                             predicted crossings
`triggered`, `zeros`                   behind a crossing; what lies at zero, and what leaving it means
`holds`, `sliding_field`               sliding modes
`recording`, `event_log`               rows of values; records of events and findings
`stall_detection`                      runs that would practically never end
`projection`, `assembling`             corrections that meet constraints; finding a start that does
`model_exchange`, `restored`           a host that integrates; states put back
`accuracy`                             another accuracy than that of an export
`entries`, `compiled_step`             entry points; how Python calls them
`views`                                how the parts of a run are shown
`tables` and the others                in Python: what a run begins with
====================================== ====================================================================
"""
