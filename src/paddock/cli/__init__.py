"""The `paddock` command, one module per group of commands."""
