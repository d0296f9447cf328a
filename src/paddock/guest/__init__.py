"""Programs that run inside the walls. Standard library only; the host never imports them."""
