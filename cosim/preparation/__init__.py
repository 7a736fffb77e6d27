"""The beginning of a run, made once in Python: the tables of a system, the method, the entry points.

====================================== ====================================================================
`compiled_step`                        the arrays of a run, and how Python calls the Step
`monitored_steps`                      steps with a function of Python called after each
`entries`, `restored`                  entry points; whether a state that came from outside can be one
`run_tables`, `run_layout`             what a run begins with; where each part of it lies
`handler_tables`, `memory_tables`      the tables of handlers; of what is remembered
`event_entries`, `witness`             what a system declares about events
`reach`, `choice`                      what follows a variable; what is recorded
`method`, `python_method`              integrators that are kernel functions; those that are Python
`held_system`, `held_tables`           what an integrator walks while witnesses are held
====================================== ====================================================================
"""
