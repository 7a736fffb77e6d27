"""The contract kit: checks that plugin authors run on their own components."""
