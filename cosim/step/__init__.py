"""Step(), once: kernel functions over the arrays of a State, and the tables that they go by."""
