// The control socket. Frames of the host are read one by one until the script runs, then as they arrive.
//
// While a write waits for the host, incoming data is read: if both ends only wrote, both would block forever.
// Nothing here uses properties that a script can replace. Node's streams do, so they are not used.
//
// `onAnswer` gets each answer: its id, its header, and the buffer with the start and end of its body. `onFrame` gets the
// kind, header and body of any other frame: those of a session's next run.
(function (require, primordials, onAnswer, onFrame) {
  'use strict';
  const {
    TypedArrayPrototypeCopyWithin: copyWithin, TypedArrayPrototypeGetBuffer, TypedArrayPrototypeGetByteLength: bytesOf,
    TypedArrayPrototypeSet: copyTo, Uint8Array, uncurry,
  } = primordials;
  const { readSync, writeSync } = require('node:fs');
  const { process, setImmediate } = globalThis;
  const { Pipe, constants: { SOCKET } } = process.binding('pipe_wrap');
  const { kReadBytesOrError, streamBaseState } = process.binding('stream_wrap');
  const { reallyExit } = process;
  const { byteLength } = Buffer;
  const [utf8Slice, utf8Write] = [uncurry(Buffer.prototype.utf8Slice), uncurry(Buffer.prototype.utf8Write)];
  const [ref, unref] = [uncurry(Pipe.prototype.ref), uncurry(Pipe.prototype.unref)];
  const { wait } = Atomics;
  const CONTROL = 3;
  const ANSWER = 5;
  const PREFIX = 13; // kind, id, length of the header, length of the body
  const MAX_BODY_BYTES = { __proto__: null, 17: 8 << 20, 19: 16 << 20 };
  const READ_BYTES = 64 * 1024;
  const PAUSE_MILLISECONDS = 1;
  const clock = new Int32Array(new SharedArrayBuffer(4)); // Atomics.wait sleeps on it
  const incoming = new Uint8Array(READ_BYTES);

  let pipe = null;
  let buffer = new Uint8Array(READ_BYTES); // received data that is not delivered yet
  let filled = 0; // number of bytes in it

  const number = (data, at) => ((data[at] << 24) | (data[at + 1] << 16) | (data[at + 2] << 8) | data[at + 3]) >>> 0;

  function put(data, at, value) {
    data[at] = value >>> 24;
    data[at + 1] = value >>> 16;
    data[at + 2] = value >>> 8;
    data[at + 3] = value;
  }

  function readExactly(count) {
    const data = new Uint8Array(count);
    for (let got = 0; got < count;) {
      const more = readSync(CONTROL, data, got, count - got, null);
      if (more === 0) reallyExit(0); // the host has closed the socket
      got += more;
    }
    return data;
  }

  // Waits for the next frame.
  function receive() {
    const prefix = readExactly(PREFIX);
    const headerBytes = number(prefix, 5);
    const bodyBytes = number(prefix, 9);
    const header = utf8Slice(readExactly(headerBytes), 0, headerBytes);
    const body = readExactly(bodyBytes);
    return { kind: prefix[0], header, body, text: () => utf8Slice(body, 0, bodyBytes) };
  }

  function add(data, count) {
    if (filled + count > bytesOf(buffer)) {
      const larger = new Uint8Array(2 * (filled + count));
      copyTo(larger, buffer);
      buffer = larger;
    }
    copyTo(buffer, new Uint8Array(TypedArrayPrototypeGetBuffer(data), 0, count), filled);
    filled += count;
  }

  function deliver() {
    let begin = 0;
    while (filled - begin >= PREFIX) {
      const middle = begin + PREFIX + number(buffer, begin + 5);
      const end = middle + number(buffer, begin + 9);
      if (filled < end) break;
      const header = utf8Slice(buffer, begin + PREFIX, middle);
      if (buffer[begin] === ANSWER) onAnswer(number(buffer, begin + 1), header, buffer, middle, end);
      else onFrame(buffer[begin], header, new Uint8Array(TypedArrayPrototypeGetBuffer(buffer), middle, end - middle));
      begin = end;
    }
    copyWithin(buffer, 0, begin, filled);
    filled -= begin;
  }

  // Called by libuv, which keeps the data in `incoming` until it reads again.
  function onRead() {
    const count = streamBaseState[kReadBytesOrError];
    if (count < 0) reallyExit(1); // the host has closed the socket
    if (count === 0) return;
    add(incoming, count);
    deliver();
  }

  function listen() {
    pipe = new Pipe(SOCKET);
    const problem = pipe.open(CONTROL);
    if (problem !== 0) throw new Error(`the control socket cannot be read: ${problem}`);
    pipe.useUserBuffer(incoming);
    pipe.onread = onRead;
    pipe.readStart();
  }

  // Reads incoming data while a write waits. It is delivered when the script yields to the event loop.
  function readAhead() {
    const data = new Uint8Array(READ_BYTES);
    try {
      const count = readSync(CONTROL, data, 0, READ_BYTES, null);
      if (count === 0) reallyExit(1);
      add(data, count);
      setImmediate(deliver);
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
      wait(clock, 0, 0, PAUSE_MILLISECONDS);
    }
  }

  function send(data, size) {
    for (let sent = 0; sent < size;) {
      try {
        sent += writeSync(CONTROL, data, sent, size - sent);
      } catch (error) {
        if (error.code !== 'EAGAIN') throw error;
        readAhead();
      }
    }
  }

  // Sends a frame to the host; the body is text or bytes. `announcedBytes` is set if the body is too large to send: the
  // host ends the run when it reads the length.
  function emit(kind, id, header, body, announcedBytes) {
    const headerBytes = byteLength(header);
    const bodyBytes = typeof body === 'string' ? byteLength(body) : bytesOf(body);
    const maxBytes = MAX_BODY_BYTES[kind];
    if (bodyBytes > maxBytes) {
      throw new RangeError(kind === 19
        ? `an artifact may be at most ${maxBytes >> 20} MB; this one is larger`
        : `too large to send: ${(bodyBytes / 2 ** 20).toFixed(1)} MB, and at most ${maxBytes >> 20} MB are allowed`);
    }
    const data = new Uint8Array(PREFIX + headerBytes + bodyBytes);
    data[0] = kind;
    put(data, 1, id);
    put(data, 5, headerBytes);
    put(data, 9, announcedBytes ?? bodyBytes);
    utf8Write(data, header, PREFIX);
    if (typeof body === 'string') utf8Write(data, body, PREFIX + headerBytes);
    else copyTo(data, body, PREFIX + headerBytes);
    send(data, PREFIX + headerBytes + bodyBytes);
  }

  // Sends a request, waits for its answer, and returns the answer's header. Other answers are left for `deliver`.
  function exchange(kind, id, header, body) {
    emit(kind, id, header, body);
    for (;;) {
      for (let begin = 0; filled - begin >= PREFIX;) {
        const middle = begin + PREFIX + number(buffer, begin + 5);
        const end = middle + number(buffer, begin + 9);
        if (filled < end) break;
        if (number(buffer, begin + 1) === id) {
          const answer = utf8Slice(buffer, begin + PREFIX, middle);
          copyWithin(buffer, begin, end, filled);
          filled -= end - begin;
          return answer;
        }
        begin = end;
      }
      readAhead();
    }
  }

  // While an answer is expected, the process does not exit by itself.
  function expect(isExpected) {
    if (pipe === null) listen();
    if (isExpected) ref(pipe);
    else unref(pipe);
  }

  return { __proto__: null, emit, exchange, expect, receive, textOf: utf8Slice };
})
