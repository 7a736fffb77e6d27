"""Derivatives of a co-simulation: tangents that pass its exchanges.

In the order in which they are read:

============================= ================================================================================
`participant_tangents`        what a participant carries along: its tangents in a number of directions
`system_participant_tangents` of a system of ours, exact
`neighbor_tangents`           of any other participant, by differences between neighbors of it
`board_tangents`              of the last values that were read and set
`linear_fixed_point`          the solution of closed loops
`exchange_records`            what an algorithm did in a communication step, but for what it took back
`exchange_tangents`           the rule of each operation of an exchange
`followed_exchange`           of an algorithm of which only its calls are known: tangents go along with each
`coupling_tangents`           from the start of a run to its result
============================= ================================================================================
"""
