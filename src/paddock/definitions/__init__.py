"""Code tools as data: what each is called, what it tells a model, and the face through which callers see a run."""
