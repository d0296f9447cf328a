// Math.random, begun anew in each run: a forked process would have its parent's numbers. (sfc32)
(function (taken) {
  'use strict';
  const { ObjectDefineProperty } = taken;
  let a = 0;
  let b = 0;
  let c = 0;
  let counter = 1;

  function next() {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum | 0;
    return sum >>> 0;
  }

  const { random } = {
    random() {
      return ((next() >>> 5) * 67108864 + (next() >>> 6)) / 9007199254740992;
    },
  };
  ObjectDefineProperty(Math, 'random', { __proto__: null, value: random, writable: true, configurable: true });

  return {
    __proto__: null,
    seed(numbers) {
      a = numbers[0] | 0;
      b = numbers[1] | 0;
      c = numbers[2] | 0;
      counter = 1;
      for (let round = 0; round < 12; round++) next();
    },
  };
})
