"""The kernel enclosure around guest processes."""
