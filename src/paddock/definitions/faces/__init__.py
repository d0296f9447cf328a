"""How the arguments and results of a definition look to its caller, one module for each way."""
