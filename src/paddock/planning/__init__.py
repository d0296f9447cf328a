"""Decides how a script will run, before it runs. Pure functions."""
