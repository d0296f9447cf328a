"""Paging and searching text that may be larger than memory: fed piece by piece, from wherever a place is known."""
