"""One file per mechanism of the kernel. Standard library alone: they run in the zygote."""
