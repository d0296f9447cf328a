"""How a database becomes the one that this Paddock knows. A migration that was released is never changed."""
