// Attached files in the working directory, and files that a script leaves: they are sent as artifacts.
//
// `exchange` sends a request and waits for the header of its answer. `mayDisplay` tells whether an image can be shown.
(function (require, primordials, files, exchange, warn, mayDisplay) {
  'use strict';
  const {
    closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readSync, readlinkSync, symlinkSync,
  } = require('node:fs');
  const {
    ArrayPrototypePop, ArrayPrototypeSort, JSONParse, JSONStringify, MapPrototypeGet, MapPrototypeHas, MapPrototypeSet,
    MathMin, RegExpPrototypeExec, SetPrototypeHas, StringPrototypeSlice, StringPrototypeToLowerCase,
    StringPrototypeToWellFormed,
    TypedArrayPrototypeGetLength, TypedArrayPrototypeSubarray, Uint8Array, push,
  } = primordials;
  const [ARTIFACT, DISPLAY] = [19, 28];
  const IMAGE_BYTES = 512 * 1024; // a larger image is only an artifact: nothing here can scale it
  const IMAGE_TYPES = {
    __proto__: null, gif: 'image/gif', jpeg: 'image/jpeg', jpg: 'image/jpeg', png: 'image/png', webp: 'image/webp',
  };
  const FIRST_ID = 2 ** 31; // ids of the script's own requests are lower
  const ENTRIES = 2000; // how many entries of folders are looked at
  const FILE_BYTES = 16 * 2 ** 20;
  const RUN_BYTES = 64 * 2 ** 20;
  const [TYPE, FOLDER, REGULAR, LINK] = [0o170000, 0o040000, 0o100000, 0o120000];
  const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const SKIPPED = /^(?:\.|node-compile-cache|main\.m?js$|node_modules$)/; // hidden files, caches, the script itself
  const cwd = process.cwd();
  const attached = new Map(); // the state of each attached file, by its path

  function stateOf(path) {
    const status = lstatSync(path);
    return `${status.size} ${status.mtimeMs} ${status.ino}`;
  }

  // Links the attached files into the working directory, because copies would take memory.
  function attach(entries) {
    for (const { path } of entries) {
      const name = path.slice(path.lastIndexOf('/') + 1);
      try {
        MapPrototypeSet(attached, path, stateOf(path));
        if (name !== 'main.js' && name !== 'main.mjs') symlinkSync(path, `${cwd}/${name}`);
      } catch {} // the folder is not writable
    }
  }

  // The path of the content if an entry of a folder is a regular file that the script wrote or changed.
  function changedPath(path, kind) {
    const target = kind === LINK ? readlinkSync(path) : path;
    if (kind !== REGULAR && !MapPrototypeHas(attached, target)) return undefined;
    return MapPrototypeGet(attached, target) === stateOf(target) ? undefined : target;
  }

  // Adds the files below a folder to `found`, as objects with a name and a path.
  function scan(folder, existing, found) {
    const waiting = [''];
    let left = ENTRIES;
    while (waiting.length > 0) {
      const prefix = ArrayPrototypePop(waiting);
      try {
        const names = readdirSync(`${folder}/${prefix}`);
        for (let at = 0; at < names.length && left > 0; at++, left--) {
          const name = prefix + names[at];
          if (RegExpPrototypeExec(SKIPPED, names[at]) !== null || SetPrototypeHas(existing, name)) continue;
          const kind = lstatSync(`${folder}/${name}`).mode & TYPE;
          if (kind === FOLDER) push(waiting, `${name}/`);
          const path = kind === REGULAR || kind === LINK ? changedPath(`${folder}/${name}`, kind) : undefined;
          if (path !== undefined) push(found, { __proto__: null, name, path });
        }
      } catch {} // the script removed it, or may not read it
    }
  }

  function contentOf(path, maxBytes) {
    const fd = openSync(path, FLAGS);
    try {
      const { size } = fstatSync(fd);
      if (size > maxBytes) {
        throw new RangeError(`the files of a run may have at most ${size > FILE_BYTES ? '16 MB' : '64 MB in all'}`);
      }
      const data = new Uint8Array(size);
      let count = 0;
      for (let more = 1; count < size && more > 0; count += more) more = readSync(fd, data, count, size - count, null);
      return count === size ? data : TypedArrayPrototypeSubarray(data, 0, count);
    } finally {
      closeSync(fd);
    }
  }

  // Sends a file, an image as a value to display. Returns the header of the answer.
  function send(id, filename, body) {
    const suffix = RegExpPrototypeExec(/[^.]*$/, filename)[0];
    const imageType = IMAGE_TYPES[StringPrototypeToLowerCase(suffix)];
    const size = TypedArrayPrototypeGetLength(body);
    if (imageType === undefined || size === 0 || size > IMAGE_BYTES || !mayDisplay(size)) {
      return exchange(ARTIFACT, id, JSONStringify({ __proto__: null, do: 'create', filename, mime_type: '' }), body);
    }
    return exchange(DISPLAY, id, JSONStringify({
      __proto__: null, type: 'image', mime_type: imageType, data_bytes: size, filename,
    }), body);
  }

  // Sends the files. `isKept` tells whether the script has created an artifact of this name.
  function keep(folders, existing, isKept) {
    const found = [];
    scan(files, existing, found);
    for (let at = 0; at < folders.length; at++) scan(folders[at], existing, found);
    ArrayPrototypeSort(found, (one, other) => (one.name < other.name ? -1 : 1));
    let bytesLeft = RUN_BYTES;
    for (let at = 0, before; at < found.length; at++) {
      const { name, path } = found[at];
      if (isKept(name) || path === before) continue; // a link and the file itself
      before = path;
      let problem;
      try {
        const body = contentOf(path, MathMin(FILE_BYTES, bytesLeft));
        bytesLeft -= TypedArrayPrototypeGetLength(body);
        problem = JSONParse(send(FIRST_ID + at, StringPrototypeToWellFormed(name), body)).error;
      } catch (error) {
        problem = error.message;
      }
      try {
        MapPrototypeSet(attached, path, stateOf(path)); // the next cell of a session keeps only what it changes
      } catch {} // another process of the script has removed it
      if (problem !== undefined) warn(`${JSONStringify(StringPrototypeSlice(name, 0, 60))} was not kept: ${problem}.`);
    }
  }

  return { __proto__: null, attach, keep };
})
