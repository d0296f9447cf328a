"""Programs that run in the sandbox. The host never imports them.

They import only each other, the standard library, `_quickjs` and `paddock.jail.wire`.
"""
