"""How far a co-simulation may be trusted: what the coupling did wrong, and what that did to the results."""
