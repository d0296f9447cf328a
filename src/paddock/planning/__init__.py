"""Pure decisions taken before anything runs."""
