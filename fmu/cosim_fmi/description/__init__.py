"""What an FMU declares about itself."""
