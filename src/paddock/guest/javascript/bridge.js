// The functions through which a script reaches the host: tools, artifacts, progress. All JavaScript engines use this
// file.
//
// `host.emit(kind, id, header, body)` sends a frame; a body is text or a Uint8Array. The answer comes back through
// `settle(id, header, body)`. `emit` throws if a body is larger than the host accepts. `host.warn(text)` adds a warning
// to the result; `host.lineOf(error)` is the script's line on which an error was created.
(function (primordials, host, values) {
  'use strict';
  const {
    ArrayIsArray, Error, JSONParse, JSONStringify, Map, MapPrototypeClear, MapPrototypeDelete, MapPrototypeForEach,
    MapPrototypeGet, MapPrototypeGetSize, MapPrototypeSet, NumberIsFinite, ObjectDefineProperty, ObjectKeys, Promise,
    PromisePrototypeThen,
    Set, SetPrototypeAdd, SetPrototypeHas, StringPrototypeEndsWith, StringPrototypeIncludes, StringPrototypeSlice,
    StringPrototypeStartsWith, StringPrototypeToLowerCase, StringPrototypeToWellFormed, TypeError, WeakMap,
    TypedArrayPrototypeGetLength, WeakMapPrototypeGet, WeakMapPrototypeSet,
  } = primordials;
  const CALL = 17;
  const PROGRESS = 18;
  const ARTIFACT = 19;
  const DISPLAY = 28;
  const DISPLAY_BYTES = 512 * 1024;
  // How the content of each type of image starts, and the suffix of its file.
  const IMAGES = [['image/png', [0x89, 0x50, 0x4e, 0x47], 'png'], ['image/jpeg', [0xff, 0xd8, 0xff], 'jpg'],
    ['image/gif', [0x47, 0x49, 0x46, 0x38], 'gif']];
  const SUFFIXES = {
    __proto__: null, 'text/csv': 'csv', 'text/plain': 'txt', 'text/html': 'html', 'application/json': 'json',
    'application/pdf': 'pdf', 'application/zip': 'zip', 'image/svg+xml': 'svg', 'image/webp': 'webp',
  };
  const TYPE_CHARACTERS = 200;
  const TOOL_NAME_CHARACTERS = 600; // twice the longest full name; a longer name is cut, and matches no tool
  const FILE_NAME_CHARACTERS = 4096;
  const MESSAGE_CHARACTERS = 1000;
  const SHOWN_CHARACTERS = 60; // of a name in a warning
  const ARTIFACT_CHARACTERS = 16 << 20;
  const MISUSES = 3; // lines that are named
  const MAX_WATCHED = 20;
  const WATCHED = ['length', '0'];
  // A property whose absence goes unnoticed: it has a default.
  const WITH_DEFAULT = /(?:\.([A-Za-z_$][\w$]*)\s*(?:\?\?|\|\|)|[{,]\s*([A-Za-z_$][\w$]*)\s*=\s*[[{])/g;
  const OF_ERRORS = ['error', 'errors', 'isError']; // a failed call throws, so their absence is as expected
  const { toPrimitive } = Symbol;

  const pending = new Map(); // by request id
  const created = new Set(); // file names of artifacts
  const envelopes = new WeakMap(); // the envelope of a failed call, as text, by its error
  const misuses = new Map(); // how the script uses an answer as if it were its value, by line
  let lastId = 0;
  let lastKeys = null; // the keys of the last answer
  let watched = WATCHED; // the properties that are watched in an answer

  const quote = (text) => JSONStringify(StringPrototypeToWellFormed(text));

  // `callSite` is an error that was created in the call.
  function request(kind, header, body, name, callSite, onAnswer) {
    const id = ++lastId;
    host.emit(kind, id, header, body);
    MapPrototypeSet(pending, id, { __proto__: null, name, onAnswer, callSite });
  }

  function settle(id, header, body) {
    const entry = MapPrototypeGet(pending, id);
    if (entry === undefined) return;
    MapPrototypeDelete(pending, id);
    entry.onAnswer(JSONParse(header), body);
  }

  const shown = (name) => (
    name.length > SHOWN_CHARACTERS ? StringPrototypeSlice(name, 0, SHOWN_CHARACTERS) + '…' : name
  );

  // Warns that calls have no answer yet when the script returns, or when its time is up.
  function warnOfPending(isLate) {
    let count = 0;
    let first = null;
    MapPrototypeForEach(pending, (entry) => {
      if (entry.name === '') return; // the runtime's own
      count++;
      first ??= entry;
    });
    if (count === 0) return;
    const line = host.lineOf(first.callSite);
    const which = shown(first.name) + (line === undefined ? '' : ', line ' + line);
    const isOne = count === 1;
    const subject = count + (isOne ? ' call ' : ' calls ');
    const names = isOne ? ' (' + which + ')' : ' (the first: ' + which + ')';
    host.warn(isLate
      ? subject + 'had no answer when the run\'s time was up' + names + '; the effect is unknown.'
      : subject + (isOne ? 'was' : 'were') + ' still under way when the script returned' + names +
        (isOne ? ': await it.' : ': await them.'));
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

  // Whether a tool's list or plain value is under the only key `result`.
  function isWrapped(answer) {
    if (lastKeys === null || lastKeys[0] !== 'result' || lastKeys.length > 2) return false;
    if (lastKeys.length === 2 && lastKeys[1] !== '_attachments') return false;
    const { result } = answer;
    return typeof result !== 'object' || result === null || ArrayIsArray(result);
  }

  function noteMisuse(text) {
    const line = host.lineOf(new Error());
    if (line !== undefined && MapPrototypeGet(misuses, line) === undefined) MapPrototypeSet(misuses, line, text);
  }

  // Notes where the script uses the answer as its value, which is no error in JavaScript: `answer.length` is undefined.
  // The properties are not enumerable, so that the answer's keys, its JSON text and its copies stay as they are.
  function watch(answer) {
    for (let index = 0; index < watched.length; index++) {
      const key = watched[index];
      ObjectDefineProperty(answer, key, {
        __proto__: null,
        configurable: true,
        get() { noteMisuse('the answer has no ' + (key === '0' ? 'item 0' : '`' + key + '`')); },
        set(value) {
          ObjectDefineProperty(answer, key, {
            __proto__: null, value, configurable: true, enumerable: true, writable: true,
          });
        },
      });
    }
    defineHidden(answer, toPrimitive, (kind) => {
      noteMisuse('the answer is not text or a number');
      return kind === 'number' ? NaN : '[object Object]';
    });
  }

  // Warns of what was noted, except on the line of the run's error, whose hint says the same.
  function warnOfMisuses(exceptLine) {
    let count = 0;
    MapPrototypeForEach(misuses, (text, line) => {
      if (line === exceptLine || ++count > MISUSES) return;
      host.warn('On line ' + line + ', ' + text + '; its value is in answer.result.');
    });
    MapPrototypeClear(misuses);
  }

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
      request(CALL, header, text, name, error, ({ failed }, body) => {
        if (failed) {
          fail(error, name, body);
          reject(error);
          return;
        }
        const answer = values.parse(body);
        lastKeys = typeof answer === 'object' && answer !== null && !ArrayIsArray(answer) ? ObjectKeys(answer) : null;
        if (isWrapped(answer)) watch(answer);
        resolve(answer);
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

  function toolFunction(name) {
    const { [name]: call } = { [name](args) { return callByName(name, args, true); } };
    return call;
  }

  const failure = (error) => ({ success: false, error });
  const isJSON = (filename, fileType) => (
    StringPrototypeIncludes(StringPrototypeToLowerCase(fileType ?? ''), 'json') ||
    (fileType === undefined && StringPrototypeEndsWith(StringPrototypeToLowerCase(filename), '.json'))
  );

  // The text or bytes of an artifact. Throws an error that says what is wrong.
  function artifactContent(filename, content, fileType) {
    if (typeof filename !== 'string' || filename.length > FILE_NAME_CHARACTERS) {
      throw new TypeError('an artifact needs a file name');
    }
    if (fileType !== undefined && (typeof fileType !== 'string' || fileType.length > TYPE_CHARACTERS)) {
      throw new TypeError('the type of an artifact must be a MIME type, such as text/csv');
    }
    if (typeof content === 'string') return content;
    if (typeof content === 'object' && content !== null) {
      const bytes = values.bytesOf(content);
      if (bytes !== undefined) return bytes;
      if (isJSON(filename, fileType)) {
        const text = values.text(content, 'the content', ARTIFACT_CHARACTERS);
        if (text !== undefined) return text;
        throw new TypeError('an artifact may be at most 16 MB; this one is larger');
      }
    }
    const kind = content === null ? 'null' : typeof content;
    throw new TypeError('the content of an artifact must be text or a Uint8Array, not ' + kind);
  }

  function imageOf(bytes) {
    for (let at = 0; at < IMAGES.length; at++) {
      const start = IMAGES[at][1];
      let same = 0;
      while (same < start.length && bytes[same] === start[same]) same++;
      if (same === start.length) return IMAGES[at];
    }
    return undefined;
  }

  // Keeps the bytes that a script returns as an artifact. Returns 'kept', 'shown' for an image, or '' for other values.
  function keepResult(value, fileType = '') {
    const bytes = values.bytesOf(value, true);
    const size = bytes === undefined ? 0 : TypedArrayPrototypeGetLength(bytes);
    if (size === 0) return '';
    const image = imageOf(bytes);
    const filename = 'result.' + (image === undefined ? SUFFIXES[fileType] ?? 'bin' : image[2]);
    const isShown = image !== undefined && size <= DISPLAY_BYTES && (host.mayDisplay?.(size) ?? true);
    const header = isShown
      ? '{"type":"image","is_result":true,"text_bytes":0,"data_bytes":' + size + ',"mime_type":' + quote(image[0])
      : '{"do":"create","mime_type":' + quote(image === undefined ? fileType || 'application/octet-stream' : image[0]);
    try {
      const named = header + ',"filename":' + quote(filename) + '}';
      request(isShown ? DISPLAY : ARTIFACT, named, bytes, '', new Error(), ({ success, error }) => {
        if (!success) host.warn('The returned bytes are not kept: ' + error + '.');
      });
      return isShown ? 'shown' : 'kept';
    } catch (error) {
      host.warn('The returned bytes are not kept: ' + error.message + '.');
      return '';
    }
  }

  // A script may ignore the answer, so a failure is also a warning.
  function createArtifact(filename, content, fileType) {
    const blob = host.readBlob?.(content);
    if (blob !== undefined) {
      const type = fileType ?? (blob.type === '' ? undefined : blob.type);
      return PromisePrototypeThen(blob.bytes, (bytes) => createArtifact(filename, bytes, type));
    }
    const callSite = new Error();
    return new Promise((resolve) => {
      const answered = (answer) => {
        if (answer.success) SetPrototypeAdd(created, filename);
        else {
          const line = host.lineOf(callSite);
          const name = typeof filename === 'string' ? quote(shown(filename)) : '';
          host.warn('codeExec.createArtifact(' + name + ')' + (line === undefined ? '' : ' on line ' + line) +
            ' created no artifact: ' + answer.error + '.');
        }
        resolve(answer);
      };
      try {
        const data = artifactContent(filename, content, fileType ?? undefined);
        const header = '{"do":"create","filename":' + quote(filename) + ',"mime_type":' + quote(fileType ?? '') + '}';
        request(ARTIFACT, header, data, 'codeExec.createArtifact', callSite, answered);
      } catch (error) {
        answered(failure(error?.message ?? 'its content cannot be converted to JSON'));
      }
    });
  }

  // Warns if a script uses the content of an artifact that could not be read: it would go on with `undefined`.
  function warnOfContent(answer, ref, callSite) {
    let isNoted = false;
    const get = () => {
      if (isNoted) return;
      isNoted = true;
      const line = host.lineOf(callSite);
      host.warn('codeExec.readArtifact(' + quote(shown(ref)) + ')' + (line === undefined ? '' : ' on line ' + line) +
        ' read nothing: ' + answer.error + '.');
    };
    ObjectDefineProperty(answer, 'content', { __proto__: null, configurable: true, get });
  }

  function readArtifact(ref) {
    const callSite = new Error();
    return new Promise((resolve) => {
      if (typeof ref !== 'string' || ref.length > FILE_NAME_CHARACTERS) {
        resolve(failure('readArtifact takes the id or the name of an artifact'));
        return;
      }
      const header = '{"do":"read","ref":' + quote(ref) + '}';
      request(ARTIFACT, header, '', 'codeExec.readArtifact', callSite, (answer, body) => {
        delete answer.text;
        if (answer.success) answer.content = body;
        else warnOfContent(answer, ref, callSite);
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
    toolFunction,
    settle,
    envelopeOf: (error) => WeakMapPrototypeGet(envelopes, error),
    keepResult,
    hasPending: () => MapPrototypeGetSize(pending) > 0,
    isArtifact: (filename) => SetPrototypeHas(created, filename),
    lastKeys: () => lastKeys,
    reset() { lastKeys = null; },
    // Watches the properties for which the script has a default, unless it knows of `result`. One that it also names as
    // text may be looked up.
    watchSource(source) {
      const names = /\bresult\b/.test(source) ? [] : [...source.matchAll(WITH_DEFAULT)].map((found) => found[1] ?? found[2]);
      const isWatched = (name) => !OF_ERRORS.includes(name) && !RegExp(`['"]${name.replaceAll('$', '\\$')}['"]`).test(source);
      watched = [...new Set([...WATCHED, ...names.filter(isWatched)])].slice(0, MAX_WATCHED);
    },
    warnOfMisuses,
    warnOfPending,
  };
})
