"""What a run begins with, made once in Python: the tables of a system, the method, the entry points.

====================================== ====================================================================
`compiled_step`                        the arrays of a run, and how Python calls the Step
`monitored_steps`                      steps with a function of Python called after each
`entries`, `restored`                  entry points; whether a state that came from outside can be one
`run_tables`                           where each part of a run lies, and what it begins with
`event_entries`, `witness`             what a system declares about events
`reach`, `choice`                      what follows a variable; what is recorded
`method`, `python_method`              integrators that are kernel functions; those that are Python
`held_system`, `held_tables`           what an integrator walks while witnesses are held
====================================== ====================================================================
"""
