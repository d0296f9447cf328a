"""One module for each kernel mechanism. They import only the standard library, because they run in the zygote."""
