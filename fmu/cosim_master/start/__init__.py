"""Steps before the first one: feedthrough is probed, participants are initialized, values made consistent."""
