# Monty runs this in the sandbox before a script that uses tools, progress or artifacts. TOKEN is replaced by a secret:
# a script that called the host's functions directly could send objects that take the host forever to read. An f-string
# is always text, whatever a script has assigned to builtins. Texts are cut a little above the host's limit, so that the
# host can still report that they are too long.
from json import dumps as __paddock_dumps
from json import loads as __paddock_loads

# How many coroutines of each call were created and not awaited.
__paddock_unawaited = {}
# Sentences about artifacts that were not created.
__paddock_failures = []


def __paddock_created(call):
    __paddock_unawaited[call] = __paddock_unawaited.get(call, 0) + 1
    return call


async def __paddock_call(call, name, params, kind):
    __paddock_unawaited[call] -= 1
    if type(name) is not str:
        raise TypeError("call_tool takes the tool's name and one dict of arguments")
    text = __paddock_dumps({} if params is None else params, allow_nan=False)
    return __paddock_loads(await __paddock_call_TOKEN(f"{name[:1000]}", f"{text[:16_777_217]}", f"{kind}"))


def call_tool(name, params=None, arguments=None):
    call = __paddock_created(f"call_tool({name!r})"[:100])
    return __paddock_call(call, name, arguments if params is None else params, "tool")


def __paddock_function(name, arguments, fields):
    call = __paddock_created(f"{name}()")
    if fields:
        arguments = {**(arguments or {}), **fields}
    return __paddock_call(call, name, arguments, "function")


async def report_progress(done, total=None, message=""):
    if not isinstance(done, (int, float)) or not (total is None or isinstance(total, (int, float))):
        raise TypeError("report_progress takes numbers: report_progress(done, total, message)")
    text = message[:1000] if isinstance(message, str) else ""
    await __paddock_progress_TOKEN(f"{done + 0}", f"{'' if total is None else total + 0}", f"{text}")


def create_artifact(filename, content, file_type=None):
    return __paddock_artifact(__paddock_created(f"create_artifact({filename!r})"[:100]), filename, content, file_type)


def __paddock_failed(call, error):
    if len(__paddock_failures) < 20:
        __paddock_failures.append(f"{call} created no artifact: {error}.")
    return {"success": False, "error": error}


async def __paddock_artifact(call, filename, content, file_type):
    __paddock_unawaited[call] -= 1
    if not isinstance(filename, str):
        return __paddock_failed(call, "an artifact needs a file name")
    if file_type is not None and not isinstance(file_type, str):
        return __paddock_failed(call, "the type of an artifact must be a MIME type, such as text/csv")
    is_json = "json" in file_type.lower() if file_type else filename.lower().endswith(".json")
    if is_json and isinstance(content, (dict, list)):
        content = __paddock_dumps(content, allow_nan=False)
    if not isinstance(content, (str, bytes)):
        kind = type(content).__name__
        return __paddock_failed(call, f"the content of an artifact must be text or bytes, not {kind}")
    kind = "bytes" if isinstance(content, bytes) else "text"
    text = content.hex() if isinstance(content, bytes) else content
    names = (f"{filename[:1000]}", f"{file_type[:1000] if file_type else ''}")
    answer = await __paddock_artifact_TOKEN("create", names[0], names[1], kind, f"{text[:33_554_434]}")
    values = __paddock_loads(answer[0])
    return values if values["success"] else __paddock_failed(call, values["error"])


async def read_artifact(ref):
    if not isinstance(ref, str):
        return {"success": False, "error": "read_artifact takes the id or the name of an artifact"}
    answer = await __paddock_artifact_TOKEN("read", f"{ref[:1000]}", "", "", "")
    values = __paddock_loads(answer[0])
    if not values["success"]:
        return values
    return {
        "success": True,
        "content": answer[1],
        "filename": values["filename"],
        "mimeType": values["mimeType"],
        "size": values["size"],
    }
