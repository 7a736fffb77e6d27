"""Many runs of one system, in threads, processes and clusters."""
