"""One module per way of running a language; each knows nothing of the others."""
