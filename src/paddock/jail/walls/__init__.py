"""One module for each kernel mechanism. They use the standard library alone, because they run in the zygote."""
