"""Special needs of FMUs of single tools beyond the standard, one file a tool."""
