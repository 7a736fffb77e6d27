"""Force elements, one a file: what acts between bodies, on bodies and on the coordinates of joints."""
