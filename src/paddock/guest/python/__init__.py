"""The runtime of the `cpython` engine: the program that executes a script in the sandbox.

`main.serve` is the entry point. One process runs one script. It receives the script (`job`), compiles it (`script`,
`returns`, `outline`), and runs it (`execution`) under its limits (`limits`), with its inputs (`namespace`) and its
functions (`channel`, `functions`, `answers`). It serialises the script's value (`values`, `tables`) or describes its
error (`errors`), shuts down as Python does, and sends the RESULT.

A script can change anything in here. That breaks its own run and no other, because the host trusts none of it. What
ordinary scripts do (replace `json.dumps`, `print` or `open`, or fork) does not break their run.
"""
