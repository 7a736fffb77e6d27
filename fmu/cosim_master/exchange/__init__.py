"""Communication steps: programs of operations, which one interpreter runs over arrays."""
