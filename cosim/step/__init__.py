"""Step(), once: kernel functions of a run.

What a run has is declared in `cosim.run_data`; what it begins with is made in `cosim.preparation`.
The files in the order in which they are read:

====================================== ====================================================================
`step`                                 one step
`advance`                              a run: its beginning, its steps, its end
`failures`                             why a run cannot go on
`agenda`                               scheduled times, in rational numbers
`updates`                              handlers
`block_calls`, `realize`               variables, and calling blocks; computing what is not computed yet
`integration`                          calling the integrator
`histories`                            histories and auto-update variables, also between the ends of steps
`witnesses`, `witness_values`          their memory, the end of a step just past a crossing; values, rates
`crossing`, `search_points`            the first crossing inside a step; the points of the search
`straight_witnesses`                   parts of a step that need no search
`forecast`                             predicted crossings
`triggered`, `zeros`                   behind a crossing; what lies at zero, and what leaving it means
`holds`, `releases`, `sliding_field`   sliding modes: what holds a witness, and until when; their equations
`recording`, `event_log`, `tape`       rows of values; events and findings; steps, for derivatives
`model_exchange`                       a host that integrates
====================================== ====================================================================

A step of a system with a delay, a witness and a sampler, in the order in which it happens:

1. `one_step` computes what is not computed yet (`realize`), and `start_step` runs the updates that are due.
   The sampler is a handler with a schedule: when `agenda.next_time` has come, `list_due` marks it,
   `run_updates` calls it, and its result goes into a discrete variable; `agenda.serve` finds its next time.
   Unrestricted updates come before discrete ones; inside a kind a witness's handlers come before a sampler.
2. `integrate_toward` steps to the next scheduled time at most (`next_event_time`), and to the next time at
   which the delay is not smooth (`next_kink`, which the delay itself computes): there a break that its input
   had comes out of it. `integrate_step` calls the method, which reads the delayed value from the history
   while it evaluates derivatives. If that lies in the step itself, the method repeats the step, with the end
   of the attempt before in the history (the delay's update "ahead"). If the delayed signal is not
   integrated, `refine_step` compares the history with dense output and adds points.
3. `isolate_witness` keeps the dense output of the step and searches it, also where the witness has one sign
   at both ends. Where it crosses zero, the step is taken again so that it ends just behind
   (`step_to_crossing`), and `trigger_handlers` marks its handlers: the next step begins with them.
4. `remember_step` appends the end of the step to the history of the delay, and a second entry where a break
   has arrived at this time.
5. `end_step` runs publishes. Behind the step, `advance` calls `record_step`, which writes rows: those inside
   the step from dense output. A method that remembers earlier steps restarts if a break has arrived.
"""
