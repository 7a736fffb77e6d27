"""Layout, schedule and State: a system is data and a schedule."""
