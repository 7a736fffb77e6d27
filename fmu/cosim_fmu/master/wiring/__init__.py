"""Participants and connections before a run: checked, ordered, their units converted."""
