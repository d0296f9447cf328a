// The text of a date, as Node has it: with the name of the time zone, which is the same in every guest.
(function (taken) {
  'use strict';
  const { DatePrototype, DatePrototypeToString, DatePrototypeToTimeString, ObjectDefineProperty } = taken;
  const ZONE = ' (Coordinated Universal Time)';
  const named = (text) => (taken.StringPrototypeEndsWith(text, 'GMT+0000') ? text + ZONE : text);
  const methods = {
    toString() { return named(DatePrototypeToString(this)); },
    toTimeString() { return named(DatePrototypeToTimeString(this)); },
  };
  for (const key of Object.keys(methods)) {
    ObjectDefineProperty(DatePrototype, key, {
      __proto__: null, value: methods[key], writable: true, configurable: true,
    });
  }
})
