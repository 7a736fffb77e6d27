"""What single tools write into SSPs beside the standard, one file a tool."""
