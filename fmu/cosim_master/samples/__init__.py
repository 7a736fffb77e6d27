"""What a run shows of its coupling, collected at the exchanges."""
