// The control socket: frames of the host, read one by one until the script runs, then whenever they come.
//
// A write blocks while the host is behind, and reads meanwhile: two ends that both only write would wait for ever.
// Nothing here is looked up where a script may have replaced it. So no stream of Node's reads: they consist of that.
(function (require, primordials) {
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
  const PREFIX = 13; // kind, id, length of the header, length of the body
  const MOST = { __proto__: null, 17: 8 << 20, 19: 16 << 20 };
  const READ_BYTES = 64 * 1024;
  const SMALL_CHARACTERS = 20 * 1024;
  const PAUSE_MILLISECONDS = 1;
  const clock = new Int32Array(new SharedArrayBuffer(4));
  const written = new Uint8Array(PREFIX + 3 * SMALL_CHARACTERS); // where most frames are put together
  const read = new Uint8Array(READ_BYTES);

  let pipe = null;
  let buffer = new Uint8Array(READ_BYTES); // what has come and is not delivered yet
  let filled = 0; // bytes of it
  let take = null;
  let gone = null;

  const number = (data, at) => ((data[at] << 24) | (data[at + 1] << 16) | (data[at + 2] << 8) | data[at + 3]) >>> 0;

  function put(data, at, value) {
    data[at] = value >>> 24;
    data[at + 1] = value >>> 16;
    data[at + 2] = value >>> 8;
    data[at + 3] = value;
  }

  function exactly(count) {
    const data = new Uint8Array(count);
    for (let got = 0; got < count;) {
      const more = readSync(CONTROL, data, got, count - got, null);
      if (more === 0) reallyExit(0); // the host has no use for this process any more
      got += more;
    }
    return data;
  }

  // The next frame; waits for it.
  function receive() {
    const prefix = exactly(PREFIX);
    const headerBytes = number(prefix, 5);
    const bodyBytes = number(prefix, 9);
    const header = utf8Slice(exactly(headerBytes), 0, headerBytes);
    const body = exactly(bodyBytes);
    return { kind: prefix[0], id: number(prefix, 1), header, body, text: () => utf8Slice(body, 0, bodyBytes) };
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
      take(number(buffer, begin + 1), utf8Slice(buffer, begin + PREFIX, middle), buffer, middle, end);
      begin = end;
    }
    copyWithin(buffer, 0, begin, filled);
    filled -= begin;
  }

  // What libuv has read is there until it reads again.
  function received() {
    const count = streamBaseState[kReadBytesOrError];
    if (count < 0) gone();
    if (count <= 0) return;
    add(read, count);
    deliver();
  }

  // From now on each answer is given to `taker`: its number, its header, and the bytes in which its body is, from
  // where to where. `dead` is called where the host is gone.
  function listen(taker, dead) {
    take = taker;
    gone = dead;
    pipe = new Pipe(SOCKET);
    const problem = pipe.open(CONTROL);
    if (problem !== 0) throw new Error(`the control socket cannot be read: ${problem}`);
    pipe.useUserBuffer(read);
    pipe.onread = received;
    pipe.readStart();
    unref(pipe);
  }

  // Takes what has come while a write waits; it is delivered when the script has let go.
  function readAhead() {
    const data = new Uint8Array(READ_BYTES);
    try {
      const count = readSync(CONTROL, data, 0, READ_BYTES, null);
      if (count === 0) gone();
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

  // A frame to the host; a body is text or bytes.
  function emit(kind, id, header, body) {
    if (typeof body === 'string' && header.length + body.length < SMALL_CHARACTERS) {
      const headerBytes = utf8Write(written, header, PREFIX);
      const bodyBytes = body === '' ? 0 : utf8Write(written, body, PREFIX + headerBytes);
      prefix(written, kind, id, headerBytes, bodyBytes);
      send(written, PREFIX + headerBytes + bodyBytes);
      return;
    }
    const headerBytes = byteLength(header);
    const bodyBytes = typeof body === 'string' ? byteLength(body) : bytesOf(body);
    const most = MOST[kind];
    if (bodyBytes > most) {
      throw new RangeError(kind === 19
        ? `an artifact has at most ${most >> 20} MB, and this one has ${bodyBytes} bytes`
        : `too large to send: ${bodyBytes} bytes, and ${most >> 20} MB are the most`);
    }
    const data = new Uint8Array(PREFIX + headerBytes + bodyBytes);
    utf8Write(data, header, PREFIX);
    if (typeof body === 'string') utf8Write(data, body, PREFIX + headerBytes);
    else copyTo(data, body, PREFIX + headerBytes);
    prefix(data, kind, id, headerBytes, bodyBytes);
    send(data, PREFIX + headerBytes + bodyBytes);
  }

  function prefix(data, kind, id, headerBytes, bodyBytes) {
    data[0] = kind;
    put(data, 1, id);
    put(data, 5, headerBytes);
    put(data, 9, bodyBytes);
  }

  // Whether an answer is waited for: then the process does not end by itself.
  function expect(any) {
    if (any) ref(pipe);
    else unref(pipe);
  }

  return { __proto__: null, emit, expect, listen, receive, textOf: utf8Slice };
})
