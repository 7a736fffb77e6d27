"""The co-simulation master: participants that run together and exchange values.

The packages from the lowest to the highest layer; each uses only those before it: `coupling` (connections as
data), `algorithms`, `recording`, `model_exchange`, `participants`, `component`, `joint`, `exchange` (the
interpreter of communication steps), `start`, `trust`, `run`.
"""
