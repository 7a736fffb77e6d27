/* The functions of the standard have its names: in an FMU of sources these are others for the model's. */
