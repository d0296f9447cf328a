"""`python -m paddock` is the `paddock` command."""

from paddock.cli.main import entry

if __name__ == "__main__":
    entry()
