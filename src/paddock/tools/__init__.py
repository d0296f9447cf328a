"""What a script may call, and who answers."""
