"""Derivatives of a run: tangents along its steps, and adjoints back over them.

The Step writes a tape (`cosim.step.tape`): each step, row, group of handlers and update. These files read it.
In the order in which they are read:

=========================================== ===============================================================
`tape_reader`                               records in their order; each moves the tangents on
`carrier`                                   the arrays of tangents; walking blocks with them
`tangent_steps`, `tangent_events`           a step; the handlers of an instant
`either_order`, `event_order`               events that coincide, in both orders; which come close
`instant_copies`                            variables and tangents, copied meanwhile
`flow`, `tangent_cache`                     the first direction; the present cache
`tangent_lanes`                             several directions side by side: when
`lane_groups`, `lane_walks`                 where their tangents lie; what they compute together
`source_kinks`, `flow_error`                kinks of sources; jumps inside steps, and errors of tangents
`tangent_rows`                              recorded values, at fixed times
`tangent_memory`, `tangent_holds`           histories and auto-update variables; witnesses that are held
`trail`                                     what going back needs of each record: values and tangents
`adjoint_run`                               going back on the trail, from its end
`adjoint_parts`                             blocks and functions of methods: recorded, gone back along
`adjoint_steps`, `adjoint_rows`             a step and the rows inside it; weights of recorded values
`adjoint_events`                            handlers, states that meet constraints
`adjoint_memory`                            histories and auto-update variables
`adjoint_holds`, `recorded_field`           what holds witnesses
=========================================== ===============================================================
"""
