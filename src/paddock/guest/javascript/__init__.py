"""The guest of the engine `quickjs`: a QuickJS context in a jailed process, set up before the process is forked.

`main` receives a job and sends its result; `context` is the interpreter together with its prelude (the `.js` files in
this folder); `script` runs promise jobs and timers, and delivers answers. The engine `node` uses the same `.js` files,
except `start.js` and `errors.js`.
"""
