"""The data of a coupling, checked before a run: connections, order, loops, bonds, communication points."""
