"""What FMUs of single tools need beside the standard, one file a tool."""
