"""Step(), once: kernel functions of a run.

What a run has is declared in `cosim.run_data`; what it begins with is made in `cosim.preparation`.
The files in the order in which they are read:

====================================== ====================================================================
`step`                                 one step
`advance`                              a run: its beginning, its steps, its end
`failures`                             why a run cannot go on
`agenda`                               scheduled times, in rational numbers
`updates`, `saved_variables`           handlers; copies of the variables
`block_calls`, `realize`               calling blocks; computing what is not computed yet
`integration`                          calling the integrator
`histories`                            histories and auto-update variables, also between the ends of steps
`witnesses`, `watched`                 their memory, the end of a step just past a crossing; values, rates
`crossing`, `search_points`            the first crossing inside a step; the points of the search
`straight_witnesses`                   parts of a step that need no search
`forecast`                             predicted crossings
`triggered`, `zeros`                   behind a crossing; what lies at zero, and what leaving it means
`holds`, `sliding_field`               sliding modes
`recording`, `event_log`, `tape`       rows of values; events and findings; steps, for derivatives
`model_exchange`                       a host that integrates
====================================== ====================================================================
"""
