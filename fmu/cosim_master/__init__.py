"""The co-simulation master: participants that run together and exchange values.

The rooms from below to above, each of which uses only those before it: `coupling` (what is connected, as
data), `algorithms`, `samples` and `results` (what a run shows), `recording`, `model_exchange`,
`participants`, `component`, `joint`, `exchange` (the interpreter of communication steps), `start`, `trust`,
`checkpoint`, `run`.
"""
