"""Programs that run inside the walls. Standard library only, and `_quickjs`; the host never imports them."""
