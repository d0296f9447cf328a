"""One module for each kernel mechanism. They import only the standard library and each other, to run in a zygote."""
