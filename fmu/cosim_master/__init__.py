"""The co-simulation master: participants that run together and exchange values.

The rooms from below to above, each of which uses only those before it: `coupling` (what is connected, as
data), `algorithms`, `recording` (what a run shows and leaves), `model_exchange`, `participants`,
`component`, `joint`, `exchange` (the interpreter of communication steps), `start`, `trust`, `run`.
"""
