// gives: ["HttpError: status 404", 404, true, true, false, "string"]
class HttpError extends Error { constructor(status) { super(`status ${status}`); this.status = status; this.name = 'HttpError' } }
try { throw new HttpError(404) } catch (e) { return [String(e), e.status, e instanceof HttpError, Error.isError(e), Error.isError({}), typeof e.stack] }
