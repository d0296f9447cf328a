"""A browser without a window: opens the address and follows redirects."""

from __future__ import annotations

import sys

import httpx2

if __name__ == "__main__":
    httpx2.get(sys.argv[1], follow_redirects=True)
