"""What servers keep: runs, the journal of their calls, artifacts, definitions and sessions."""
