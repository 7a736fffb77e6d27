"""Annotations of single tools in SSPs beside the standard, one file a tool."""
