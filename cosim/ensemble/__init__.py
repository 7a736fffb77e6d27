"""Many runs of one system: in threads, in compiled code."""
