// The control socket: frames of the host, read one by one until the script runs, then whenever they come.
//
// A write blocks while the host is behind, and reads meanwhile: two ends that both only write would wait for ever.
(function (require) {
  'use strict';
  const { readSync, writeSync } = require('node:fs');
  const { Socket } = require('node:net');
  const { allocUnsafe, byteLength, concat, from } = Buffer;
  const { process, setImmediate } = globalThis;
  const { exit } = process;
  const { wait } = Atomics;
  const CONTROL = 3;
  const PREFIX = 13; // kind, id, length of the header, length of the body
  const MOST = { __proto__: null, 17: 8 << 20, 19: 16 << 20 };
  const READ_BYTES = 64 * 1024;
  const PAUSE_MILLISECONDS = 1;
  const clock = new Int32Array(new SharedArrayBuffer(4));

  let socket = null;
  let chunks = [];
  let held = 0; // bytes in chunks
  let wanted = PREFIX; // bytes that make the next frame complete, as far as that is known
  let take = null;
  let gone = null;

  function exactly(count) {
    const data = allocUnsafe(count);
    for (let got = 0; got < count;) {
      const read = readSync(CONTROL, data, got, count - got, null);
      if (read === 0) exit(0); // the host has no use for this process any more
      got += read;
    }
    return data;
  }

  // The next frame; waits for it.
  function receive() {
    const prefix = exactly(PREFIX);
    const header = exactly(prefix.readUInt32BE(5)).toString();
    return { kind: prefix[0], id: prefix.readUInt32BE(1), header, body: exactly(prefix.readUInt32BE(9)) };
  }

  function add(data) {
    chunks.push(data);
    held += data.length;
  }

  function deliver() {
    while (held >= wanted) {
      const data = chunks.length === 1 ? chunks[0] : concat(chunks);
      chunks = [data];
      const headerBytes = data.readUInt32BE(5);
      wanted = PREFIX + headerBytes + data.readUInt32BE(9);
      if (held < wanted) return;
      const header = data.toString('utf8', PREFIX, PREFIX + headerBytes);
      const body = data.subarray(PREFIX + headerBytes, wanted);
      chunks = wanted === held ? [] : [data.subarray(wanted)];
      held -= wanted;
      wanted = PREFIX;
      take(data.readUInt32BE(1), header, body);
    }
  }

  // From now on each answer is given to `taker`. `dead` is called where the host is gone.
  function listen(taker, dead) {
    take = taker;
    gone = dead;
    const buffer = allocUnsafe(READ_BYTES);
    socket = new Socket({
      fd: CONTROL,
      readable: true,
      writable: false,
      onread: {
        buffer,
        callback(count) {
          add(from(buffer.subarray(0, count)));
          deliver();
          return true;
        },
      },
    });
    socket.on('end', gone);
    socket.on('error', gone);
    socket.unref();
  }

  // Takes what has come while a write waits; it is delivered when the script has let go.
  function readAhead() {
    const data = allocUnsafe(READ_BYTES);
    try {
      const read = readSync(CONTROL, data, 0, READ_BYTES, null);
      if (read === 0) gone();
      if (held === 0 || held < wanted) setImmediate(deliver);
      add(data.subarray(0, read));
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
      wait(clock, 0, 0, PAUSE_MILLISECONDS);
    }
  }

  function write(data) {
    for (let sent = 0; sent < data.length;) {
      try {
        sent += writeSync(CONTROL, data, sent);
      } catch (error) {
        if (error.code !== 'EAGAIN') throw error;
        readAhead();
      }
    }
  }

  // A frame to the host; a body is text or bytes.
  function emit(kind, id, header, body) {
    const headerBytes = byteLength(header);
    const bodyBytes = typeof body === 'string' ? byteLength(body) : body.length;
    const most = MOST[kind];
    if (bodyBytes > most) {
      throw new RangeError(kind === 19
        ? `an artifact has at most ${most >> 20} MB, and this one has ${bodyBytes} bytes`
        : `too large to send: ${bodyBytes} bytes, and ${most >> 20} MB are the most`);
    }
    const data = allocUnsafe(PREFIX + headerBytes + bodyBytes);
    data[0] = kind;
    data.writeUInt32BE(id, 1);
    data.writeUInt32BE(headerBytes, 5);
    data.writeUInt32BE(bodyBytes, 9);
    data.write(header, PREFIX);
    if (typeof body === 'string') data.write(body, PREFIX + headerBytes);
    else data.set(body, PREFIX + headerBytes);
    write(data);
  }

  // Whether an answer is waited for: then the process does not end by itself.
  function expect(any) {
    if (any) socket.ref();
    else socket.unref();
  }

  return { __proto__: null, emit, expect, listen, receive };
})
