# Run by Monty, inside the sandbox, before a script that reports progress.
async def report_progress(done, total=None, message=""):
    if not isinstance(done, (int, float)) or not (total is None or isinstance(total, (int, float))):
        raise TypeError("report_progress takes numbers: report_progress(done, total, message)")
    __paddock_progress(done, total, message[:1000] if isinstance(message, str) else "")
