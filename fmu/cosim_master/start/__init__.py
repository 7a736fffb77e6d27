"""Before the first step: feedthrough is probed, participants are initialized, values made consistent."""
