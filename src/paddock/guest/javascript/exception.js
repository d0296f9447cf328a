// DOMException. QuickJS has one of its own, whose frames would not be the script's.
(function (taken) {
  'use strict';
  const { Error, ObjectDefineProperty, textOf } = taken;
  // In the order of their codes, from 1. Those without a lower-case letter are names that no error has any more.
  const NAMES = ['IndexSize', 'DOMSTRING_SIZE', 'HierarchyRequest', 'WrongDocument', 'InvalidCharacter',
    'NO_DATA_ALLOWED', 'NoModificationAllowed', 'NotFound', 'NotSupported', 'InUseAttribute', 'InvalidState', 'Syntax',
    'InvalidModification', 'Namespace', 'InvalidAccess', 'VALIDATION', 'TypeMismatch', 'Security', 'Network', 'Abort',
    'URLMismatch', 'QuotaExceeded', 'Timeout', 'InvalidNodeType', 'DataClone'];
  const CODES = { __proto__: null };
  NAMES.forEach((name, index) => { CODES[`${name}Error`] = index + 1; });

  class DOMException extends Error {
    constructor(message = '', name = 'Error') {
      super(message);
      ObjectDefineProperty(this, 'name', { __proto__: null, value: textOf(name), writable: true, configurable: true });
    }
    get code() { return CODES[this.name] ?? 0; }
  }
  NAMES.forEach((name, index) => {
    const words = name.replace('InUse', 'Inuse').replace(/(?<=[a-z]|URL)(?=[A-Z])/g, '_').toUpperCase();
    for (const holder of [DOMException, DOMException.prototype]) {
      ObjectDefineProperty(holder, `${words}_ERR`, { __proto__: null, value: index + 1, enumerable: true });
    }
  });
  ObjectDefineProperty(DOMException.prototype, Symbol.toStringTag, { value: 'DOMException', configurable: true });

  return { __proto__: null, DOMException };
})
