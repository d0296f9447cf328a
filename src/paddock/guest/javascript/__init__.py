"""The guest of the engine `quickjs`: a QuickJS context in a walled-in process, warm before it is forked.

`main` receives a job and tells its end; `context` is the VM with its prelude, the `.js` files beside it; `loop` runs
jobs, timers and answers in their order. `bridge.js`, `values.js` and `wrap.js` know nothing of QuickJS.
"""
