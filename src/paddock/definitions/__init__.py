"""Code tools as data: what each is called, what it says of itself, and the face through which its callers see a run."""
