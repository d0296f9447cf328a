// The functions through which a script reaches the host: tools, artifacts, progress. All JavaScript engines use this
// file.
//
// `host.emit(kind, id, header, body)` sends a frame; a body is text or a Uint8Array. The answer comes back through
// `settle(id, header, body)`. `emit` throws if a body is larger than the host accepts.
(function (primordials, host, values) {
  'use strict';
  const {
    ArrayIsArray, Error, JSONParse, JSONStringify, Map, MapPrototypeDelete, MapPrototypeGet, MapPrototypeGetSize,
    MapPrototypeSet, NumberIsFinite, ObjectDefineProperty, Promise, StringPrototypeSlice, StringPrototypeStartsWith,
    StringPrototypeToWellFormed, TypeError, TypedArrayPrototypeGetSymbolToStringTag, WeakMap, WeakMapPrototypeGet,
    WeakMapPrototypeSet,
  } = primordials;
  const CALL = 17;
  const PROGRESS = 18;
  const ARTIFACT = 19;
  const TYPE_CHARACTERS = 200;
  const TOOL_NAME_CHARACTERS = 600; // twice the longest full name; a longer name is cut, and matches no tool
  const FILE_NAME_CHARACTERS = 4096;
  const MESSAGE_CHARACTERS = 1000;

  const pending = new Map(); // answer callbacks by request id
  const envelopes = new WeakMap(); // the envelope of a failed call, as text, by its error
  let requests = 0;

  const quote = (text) => JSONStringify(StringPrototypeToWellFormed(text));

  function request(kind, header, body, onAnswer) {
    requests++;
    const id = requests;
    host.emit(kind, id, header, body);
    MapPrototypeSet(pending, id, onAnswer);
  }

  function settle(id, header, body) {
    const onAnswer = MapPrototypeGet(pending, id);
    if (onAnswer === undefined) return;
    MapPrototypeDelete(pending, id);
    onAnswer(JSONParse(header), body);
  }

  function defineHidden(object, key, value) {
    ObjectDefineProperty(object, key, { __proto__: null, value, writable: true, configurable: true });
  }

  // Adds the envelope of a failed call to its error.
  function fail(error, name, body) {
    const envelope = JSONParse(body);
    defineHidden(error, 'message', name + ': ' + (typeof envelope?.summary === 'string' ? envelope.summary : body));
    error.envelope = envelope;
    WeakMapPrototypeSet(envelopes, error, body);
  }

  // A failed call rejects with this error. `envelope` says why the call failed.
  class ToolError extends Error {}
  defineHidden(ToolError.prototype, 'name', 'ToolError');

  // Returns a promise of the answer. The error is created now, while the stack still shows the call.
  function callByName(name, args, isFunction = false) {
    return new Promise((resolve, reject) => {
      if (args !== undefined && args !== null && (typeof args !== 'object' || ArrayIsArray(args))) {
        throw new TypeError(name + ' takes one object of arguments');
      }
      const text = values.exact(args ?? {}, 'arguments');
      if (text[0] !== '{') throw new TypeError(name + ' takes one object of arguments');
      const error = new ToolError('');
      const sentName = quote(StringPrototypeSlice(name, 0, TOOL_NAME_CHARACTERS));
      const header = '{"tool":' + sentName + ',"function":' + isFunction + '}';
      request(CALL, header, text, ({ failed }, body) => {
        if (failed) {
          fail(error, name, body);
          reject(error);
        } else {
          resolve(values.parse(body));
        }
      });
    });
  }

  const withoutSlash = (name) => (StringPrototypeStartsWith(name, '/') ? StringPrototypeSlice(name, 1) : name);

  // `callTool(server, tool, arguments)`, or with the full name `callTool('server.tool', arguments)`.
  function callTool(server, tool, args) {
    if (typeof server === 'string' && typeof tool === 'string') {
      const path = withoutSlash(server);
      let name = withoutSlash(tool);
      if (path !== '' && (StringPrototypeStartsWith(name, path + '.') || StringPrototypeStartsWith(name, path + '/'))) {
        name = StringPrototypeSlice(name, path.length + 1);
      }
      return callByName(path === '' ? name : path + '.' + name, args);
    }
    if (typeof server === 'string' && args === undefined) return callByName(withoutSlash(server), tool);
    return new Promise(() => {
      throw new TypeError('callTool takes a server, the name of its tool and one object of arguments');
    });
  }

  function linked(name) {
    const { [name]: call } = { [name](args) { return callByName(name, args, true); } };
    return call;
  }

  const failure = (error) => ({ success: false, error });
  const isBytes = (value) => typeof value === 'object' && value !== null &&
    TypedArrayPrototypeGetSymbolToStringTag(value) === 'Uint8Array';

  function artifactProblem(filename, content, fileType) {
    if (typeof filename !== 'string' || filename.length > FILE_NAME_CHARACTERS) return 'an artifact needs a file name';
    if (typeof content !== 'string' && !isBytes(content)) {
      return 'the content of an artifact is text or a Uint8Array, not ' + (content === null ? 'null' : typeof content);
    }
    if (fileType !== undefined && (typeof fileType !== 'string' || fileType.length > TYPE_CHARACTERS)) {
      return 'the type of an artifact is a MIME type, such as text/csv';
    }
    return undefined;
  }

  function createArtifact(filename, content, fileType) {
    return new Promise((resolve) => {
      const problem = artifactProblem(filename, content, fileType ?? undefined);
      if (problem !== undefined) {
        resolve(failure(problem));
        return;
      }
      const header = '{"do":"create","filename":' + quote(filename) + ',"mime_type":' + quote(fileType ?? '') + '}';
      try {
        request(ARTIFACT, header, content, resolve);
      } catch (error) {
        resolve(failure(error.message)); // too large
      }
    });
  }

  function readArtifact(ref) {
    return new Promise((resolve) => {
      if (typeof ref !== 'string' || ref.length > FILE_NAME_CHARACTERS) {
        resolve(failure('readArtifact takes the id or the name of an artifact'));
        return;
      }
      request(ARTIFACT, '{"do":"read","ref":' + quote(ref) + '}', '', (answer, body) => {
        delete answer.text;
        if (answer.success) answer.content = body;
        resolve(answer);
      });
    });
  }

  function reportProgress(done, total, message) {
    return new Promise((resolve) => {
      if (typeof done !== 'number' || !(total === undefined || total === null || typeof total === 'number')) {
        throw new TypeError('reportProgress takes numbers: reportProgress(done, total, message)');
      }
      if (NumberIsFinite(done) && (typeof total !== 'number' || NumberIsFinite(total))) {
        const text = typeof message === 'string' ? StringPrototypeSlice(message, 0, MESSAGE_CHARACTERS) : '';
        const header = '{"done":' + done + ',"total":' + (total ?? null) + ',"message":' + quote(text) + '}';
        host.emit(PROGRESS, 0, header, '');
      }
      resolve(undefined);
    });
  }

  return {
    __proto__: null,
    globals: { __proto__: null, ToolError, callTool, reportProgress, codeExec: { createArtifact, readArtifact } },
    linked,
    settle,
    envelopeOf: (error) => WeakMapPrototypeGet(envelopes, error),
    hasPending: () => MapPrototypeGetSize(pending) > 0,
  };
})
