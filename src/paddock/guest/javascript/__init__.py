"""The guest of the engine `quickjs`: a QuickJS context in a jailed process, warm before it is forked.

`main` receives a job and sends its result; `context` is the interpreter with its prelude, the `.js` files beside it;
`script` runs promise jobs, timers and answers. Only `start.js` and `errors.js` are for QuickJS alone.
"""
