"""Constraints: what holds bodies and coordinates together beside the joints of the tree."""
