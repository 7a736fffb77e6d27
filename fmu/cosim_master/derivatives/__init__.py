"""Derivatives of a co-simulation: tangents that pass through its exchanges.

In the order in which they are read:

============================= ================================================================================
`participant_tangents`        the interface for tangents of a participant
`system_participant_tangents` exact tangents of a system of ours
`model_exchange_tangents`     exact tangents of a Model Exchange FMU with directional derivatives
`neighbor_tangents`           tangents of any other participant, by differences between neighbors of it
`board_tangents`              tangents of the values that were read and set last
`linear_fixed_point`          the solution of closed loops
`exchange_records`            records of the exchanges in a communication step
`exchange_tangents`           the rule of each operation of an exchange
`followed_exchange`           tangents of an algorithm of which only its calls are known
`coupling_tangents`           from the start of a run to its result
============================= ================================================================================
"""
