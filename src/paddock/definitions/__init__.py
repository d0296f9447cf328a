"""Code tools as data: a name, a description for models, and a face, which defines arguments and results."""
