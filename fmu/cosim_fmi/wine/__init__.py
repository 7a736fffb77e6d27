"""FMUs for Windows on Linux: their functions are called in a process under wine.

`WineLibrary` looks like any other library of an FMU: `bridge.c` has all functions of FMI 2.0 and 3.0 and
sends each call to `server.c`, a program for Windows. Both are compiled once by zig, and kept.
"""
