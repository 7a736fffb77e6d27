/* Names that the files share, as they are: in an FMU of sources they begin with the model's. */
