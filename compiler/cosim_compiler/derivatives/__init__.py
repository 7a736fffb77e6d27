"""Derivatives of kernel functions: their tangents are kernel functions, too, written from the typed form."""
