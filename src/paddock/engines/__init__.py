"""The engines, and the code that several of them share."""
