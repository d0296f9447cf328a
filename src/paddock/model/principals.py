"""Who runs code."""

LOCAL = "local"
"""The one there is until callers can be told apart: who uses the command, or reaches a server on loopback."""
