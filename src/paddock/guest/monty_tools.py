# Run by Monty, inside the sandbox, before a script that calls tools. Arguments and answers cross as JSON text: a nested
# object could be exponentially larger outside than inside.
from json import dumps as __paddock_dumps
from json import loads as __paddock_loads


async def call_tool(name, params=None, arguments=None):
    if params is None:
        params = arguments
    if not isinstance(name, str):
        raise TypeError("call_tool takes the tool's name and one dict of arguments")
    text = __paddock_dumps({} if params is None else params, allow_nan=False)
    return __paddock_loads(await __paddock_call(name, text))


async def report_progress(done, total=None, message=""):
    if not isinstance(done, (int, float)) or not (total is None or isinstance(total, (int, float))):
        raise TypeError("report_progress takes numbers: report_progress(done, total, message)")
    await __paddock_progress(done, total, message[:1000] if isinstance(message, str) else "")
