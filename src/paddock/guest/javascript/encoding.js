// Text and bytes: TextEncoder, TextDecoder, atob, btoa, and the files that were attached.
(function (taken, host, DOMException) {
  'use strict';
  const {
    ArrayBufferPrototypeGetByteLength, DataViewPrototypeGetBuffer, DataViewPrototypeGetByteLength,
    DataViewPrototypeGetByteOffset, MapPrototypeGet, RangeError, StringPrototypeCharCodeAt, StringPrototypeToLowerCase,
    StringPrototypeToWellFormed, StringPrototypeTrim, TypeError, TypedArrayPrototypeGetBuffer,
    TypedArrayPrototypeGetByteLength, TypedArrayPrototypeGetByteOffset, TypedArrayPrototypeGetSymbolToStringTag,
    TypedArrayPrototypeSet, TypedArrayPrototypeSubarray, Uint8Array, textOf,
  } = taken;
  const LABELS = new Map([['utf-8', 'utf-8'], ['utf8', 'utf-8'], ['unicode-1-1-utf-8', 'utf-8'],
    ['utf-16le', 'utf-16le'], ['utf-16', 'utf-16le'], ['latin1', 'windows-1252'], ['ascii', 'windows-1252'],
    ['us-ascii', 'windows-1252'], ['iso-8859-1', 'windows-1252'], ['windows-1252', 'windows-1252']]);

  // The bytes of a typed array, a DataView or an ArrayBuffer, not copied.
  function bytesOf(value) {
    if (typeof value === 'object' && value !== null) {
      if (TypedArrayPrototypeGetSymbolToStringTag(value) !== undefined) {
        return new Uint8Array(TypedArrayPrototypeGetBuffer(value), TypedArrayPrototypeGetByteOffset(value),
          TypedArrayPrototypeGetByteLength(value));
      }
      try {
        return new Uint8Array(DataViewPrototypeGetBuffer(value), DataViewPrototypeGetByteOffset(value),
          DataViewPrototypeGetByteLength(value));
      } catch {
        ArrayBufferPrototypeGetByteLength(value); // throws where it is none
        return new Uint8Array(value);
      }
    }
    throw new TypeError('The "input" argument must be an instance of ArrayBuffer or ArrayBufferView.');
  }

  class TextEncoder {
    get encoding() { return 'utf-8'; }
    encode(input = '') { return host.ask('encode', textOf(input), true); }
    encodeInto(source, destination) {
      const text = StringPrototypeToWellFormed(textOf(source));
      const room = TypedArrayPrototypeGetByteLength(destination);
      let read = 0;
      let written = 0;
      while (read < text.length) {
        const code = StringPrototypeCharCodeAt(text, read);
        const isPair = code >= 0xd800 && code < 0xdc00;
        const size = code < 0x80 ? 1 : code < 0x800 ? 2 : isPair ? 4 : 3;
        if (written + size > room) break;
        written += size;
        read += isPair ? 2 : 1;
      }
      TypedArrayPrototypeSet(destination, host.ask('encode', taken.StringPrototypeSlice(text, 0, read), true));
      return { read, written };
    }
  }

  class TextDecoder {
    #encoding;
    #fatal;
    #ignoreBOM;
    #kept = new Uint8Array(0); // of a character whose rest is still to come
    #isBegun = false; // a stream, of which only the first characters may be a mark of its encoding

    constructor(label = 'utf-8', options = {}) {
      this.#encoding = MapPrototypeGet(LABELS, StringPrototypeToLowerCase(StringPrototypeTrim(textOf(label))));
      if (this.#encoding === undefined) {
        const error = new RangeError('The "' + textOf(label) + '" encoding is not supported');
        error.code = 'ERR_ENCODING_NOT_SUPPORTED';
        throw error;
      }
      this.#fatal = !!options?.fatal;
      this.#ignoreBOM = !!options?.ignoreBOM;
    }

    get encoding() { return this.#encoding; }
    get fatal() { return this.#fatal; }
    get ignoreBOM() { return this.#ignoreBOM; }

    decode(input, options = {}) {
      let bytes = input === undefined ? new Uint8Array(0) : bytesOf(input);
      if (this.#kept.length > 0) {
        const joined = new Uint8Array(this.#kept.length + bytes.length);
        TypedArrayPrototypeSet(joined, this.#kept);
        TypedArrayPrototypeSet(joined, bytes, this.#kept.length);
        bytes = joined;
      }
      const end = options?.stream ? whole(bytes, this.#encoding) : bytes.length;
      this.#kept = new Uint8Array(TypedArrayPrototypeSubarray(bytes, end));
      const body = TypedArrayPrototypeSubarray(bytes, 0, end);
      const text = host.ask('decode ' + this.#encoding + (this.#fatal ? ' strictly' : ''), body, false);
      const isFirst = !this.#isBegun;
      this.#isBegun = !!options?.stream && (this.#isBegun || text !== '');
      const isMarked = isFirst && !this.#ignoreBOM && StringPrototypeCharCodeAt(text, 0) === 0xfeff;
      return isMarked ? taken.StringPrototypeSlice(text, 1) : text;
    }
  }

  // How many of the bytes are complete characters.
  function whole(bytes, encoding) {
    if (encoding === 'utf-16le') return bytes.length & ~1;
    if (encoding !== 'utf-8') return bytes.length;
    for (let back = 1; back <= 3 && back <= bytes.length; back++) {
      const byte = bytes[bytes.length - back];
      if (byte < 0x80) break;
      if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? bytes.length - back : bytes.length;
    }
    return bytes.length;
  }

  // An attached file: text, or with `null` as encoding a Uint8Array.
  function readFile(path, encoding = 'utf-8') {
    if (typeof path !== 'string') throw new TypeError('readFile takes the path of a file');
    if (encoding === null) return host.ask('bytes', path, true);
    const label = typeof encoding === 'object' ? encoding.encoding : encoding;
    const kind = MapPrototypeGet(LABELS, StringPrototypeToLowerCase(textOf(label ?? 'utf-8')));
    if (kind === 'utf-8') return host.ask('text', path, false);
    return new TextDecoder(label).decode(host.ask('bytes', path, true));
  }

  const { atob: decode64, btoa: encode64 } = globalThis;
  const exec = taken.uncurry(RegExp.prototype.exec);
  const LETTERS = /^[A-Za-z0-9+/]*$/;

  function atob(data) {
    const text = textOf(data);
    try {
      return decode64(text);
    } catch {
      const isShort = text.length % 4 === 1 && exec(LETTERS, text) !== null;
      throw new DOMException(
        isShort ? 'The string to be decoded is not correctly encoded.' : 'Invalid character', 'InvalidCharacterError',
      );
    }
  }

  function btoa(data) {
    const text = textOf(data);
    try {
      return encode64(text);
    } catch {
      throw new DOMException('Invalid character', 'InvalidCharacterError');
    }
  }

  for (const type of [TextEncoder, TextDecoder]) {
    Object.defineProperty(type.prototype, Symbol.toStringTag, { value: type.name, configurable: true });
  }
  return { __proto__: null, TextEncoder, TextDecoder, atob, btoa, readFile };
})
