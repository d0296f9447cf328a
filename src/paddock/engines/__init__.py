"""One module per engine, which knows nothing of the other engines, and one per thing that several of them share."""
