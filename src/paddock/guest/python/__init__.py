"""The runtime of the `cpython` engine: what executes a script inside the walls.

`main.serve` is the way in. One process runs one script: it receives it (`job`), compiles it (`script`, `returns`),
runs it (`running`) with its limits (`limits`) and functions (`channel`, `functions`), writes its value (`values`,
`tables`) or describes its failure (`errors`), winds the process up as Python does (`ending`), and tells the host.

A script can change anything in here. That breaks its own run and no other: the host believes nothing that it reads.
What an innocent script changes (`json.dumps`, `print`, `open`, a fork) is allowed for.
"""
