"""The file of an FMU: looked through as what is not trusted, unpacked into a private folder."""
