// DOMException. QuickJS has one of its own, whose frames would not be the script's.
(function (taken) {
  'use strict';
  const { Error, ObjectDefineProperty, textOf } = taken;
  const CODES = { __proto__: null, AbortError: 20, DataCloneError: 25, InvalidCharacterError: 5, TimeoutError: 23 };

  class DOMException extends Error {
    constructor(message = '', name = 'Error') {
      super(message);
      ObjectDefineProperty(this, 'name', { __proto__: null, value: textOf(name), writable: true, configurable: true });
    }
    get code() { return CODES[this.name] ?? 0; }
  }
  ObjectDefineProperty(DOMException.prototype, Symbol.toStringTag, { value: 'DOMException', configurable: true });

  return { __proto__: null, DOMException };
})
