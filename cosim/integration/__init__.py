"""Steps of integrators as kernel functions, and what they share."""
