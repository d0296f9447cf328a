# Run by Monty, inside the sandbox, before a script that calls tools. Arguments cross as JSON text: a nested object
# could be exponentially larger outside than inside. So do large answers, because text crosses quickly.
from json import dumps as __paddock_dumps
from json import loads as __paddock_loads


async def call_tool(name, params=None, arguments=None):
    if params is None:
        params = arguments
    if not isinstance(name, str):
        raise TypeError("call_tool takes the tool's name and one dict of arguments")
    text = __paddock_dumps({} if params is None else params, allow_nan=False)
    answer = await __paddock_call(name, text)
    return __paddock_loads(answer) if isinstance(answer, str) else answer
