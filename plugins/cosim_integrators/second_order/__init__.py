"""Methods for systems in second-order form: q' = N(q) u, u' = f(t, q, u, z), z' = g(t, q, u, z)."""
