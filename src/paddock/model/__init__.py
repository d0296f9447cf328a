"""Values and Protocols of a run: no I/O, no event loop."""
