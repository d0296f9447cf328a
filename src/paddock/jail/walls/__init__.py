"""One file per mechanism of the kernel. They use the standard library alone, because they run in the zygote."""
