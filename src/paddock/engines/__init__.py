"""The engines, which know nothing of one another, and what several of them share."""
