"""Machinery of the implicit methods: Jacobian, linear algebra, Newton's method, steps of three families."""
