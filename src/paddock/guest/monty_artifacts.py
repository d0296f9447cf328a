# Run by Monty, inside the sandbox, before a script that makes or reads artifacts.
from json import loads as __paddock_loads


async def create_artifact(filename, content, file_type=None):
    if not isinstance(filename, str):
        return {"success": False, "error": "an artifact needs a file name"}
    if not isinstance(content, (str, bytes)):
        kind = type(content).__name__
        return {"success": False, "error": f"the content of an artifact is text or bytes, not {kind}"}
    if file_type is not None and not isinstance(file_type, str):
        return {"success": False, "error": "the type of an artifact is a MIME type, such as text/csv"}
    answer = await __paddock_artifact("create", filename, file_type or "", content)
    return __paddock_loads(answer[0])


async def read_artifact(ref):
    if not isinstance(ref, str):
        return {"success": False, "error": "read_artifact takes the id or the name of an artifact"}
    answer = await __paddock_artifact("read", ref, "", "")
    given = __paddock_loads(answer[0])
    if not given["success"]:
        return given
    return {
        "success": True,
        "content": answer[1],
        "filename": given["filename"],
        "mimeType": given["mimeType"],
        "size": given["size"],
    }
