"""A check cannot go on."""

from __future__ import annotations


class FailedCallError(Exception):
    """A call of an FMU was answered by discard, error, fatal or pending."""
