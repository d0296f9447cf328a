// The four timers, as Node orders them: by their due time, those of one time in the order in which they were set.
(function (taken, raised) {
  'use strict';
  const { Map, MapPrototypeDelete, MapPrototypeGet, MapPrototypeSet, ReflectApply, TypeError } = taken;
  const now = performance.now.bind(performance);
  const LONGEST = 2 ** 31 - 1;
  const timers = new Map();
  // A heap: the least is at 1. Entries that were cleared stay in it until their time.
  const heap = Object.setPrototypeOf([undefined], null); // no setter of Array.prototype is in its way
  let size = 0;
  let ids = 0;
  let sequence = 0;

  const isBefore = (one, other) => one.due < other.due || (one.due === other.due && one.sequence < other.sequence);

  function put(index, timer) {
    heap[index] = timer;
  }

  function push(timer) {
    let at = ++size;
    while (at > 1 && isBefore(timer, heap[at >> 1])) {
      put(at, heap[at >> 1]);
      at >>= 1;
    }
    put(at, timer);
  }

  function pop() {
    const least = heap[1];
    const moved = heap[size];
    put(size, undefined);
    size--;
    if (size === 0) return least;
    let at = 1;
    while (2 * at <= size) {
      let child = 2 * at;
      if (child < size && isBefore(heap[child + 1], heap[child])) child++;
      if (!isBefore(heap[child], moved)) break;
      put(at, heap[child]);
      at = child;
    }
    put(at, moved);
    return least;
  }

  // What setTimeout returns: an object in Node too, which is its number where one is wanted.
  class Timeout {
    #id;
    constructor(id) { this.#id = id; }
    ref() { return this; }
    unref() { return this; }
    hasRef() { return true; }
    [Symbol.toPrimitive]() { return this.#id; }
    static id(value) { return typeof value === 'object' && value !== null && #id in value ? value.#id : +value; }
  }
  const { id: idOf } = Timeout;
  delete Timeout.id;

  function set(callback, delay, args, isRepeated) {
    if (typeof callback !== 'function') {
      throw new TypeError('The "callback" argument must be of type function.');
    }
    const milliseconds = +delay;
    const wait = milliseconds >= 1 && milliseconds <= LONGEST ? milliseconds : 1;
    const timer = {
      __proto__: null, id: ++ids, callback, args, wait, isRepeated, due: now() + wait, sequence: ++sequence,
    };
    MapPrototypeSet(timers, timer.id, timer);
    push(timer);
    return new Timeout(timer.id);
  }

  function clear(timeout) {
    if (timeout !== undefined && timeout !== null) MapPrototypeDelete(timers, idOf(timeout));
  }

  // Milliseconds until a timer is due; negative if there is none.
  function wait() {
    while (size > 0 && MapPrototypeGet(timers, heap[1].id) !== heap[1]) pop();
    if (size === 0) return -1;
    const left = heap[1].due - now();
    return left > 0 ? left : 0;
  }

  // Runs the timer that is due, one: promise jobs come between it and the next.
  function fire() {
    const timer = pop();
    if (!timer.isRepeated) MapPrototypeDelete(timers, timer.id);
    try {
      ReflectApply(timer.callback, undefined, timer.args);
    } catch (error) {
      raised(error);
      return;
    }
    if (timer.isRepeated && MapPrototypeGet(timers, timer.id) === timer) {
      timer.due = now() + timer.wait;
      timer.sequence = ++sequence;
      push(timer);
    }
  }

  const globals = {
    __proto__: null,
    setTimeout(callback, delay, ...args) { return set(callback, delay, args, false); },
    setInterval(callback, delay, ...args) { return set(callback, delay, args, true); },
    clearTimeout(timeout) { clear(timeout); },
    clearInterval(timeout) { clear(timeout); },
    queueMicrotask(callback) {
      if (typeof callback !== 'function') throw new TypeError('The "callback" argument must be of type function.');
      taken.PromisePrototypeThen(taken.PromiseResolve(), () => {
        try {
          callback();
        } catch (error) {
          raised(error);
        }
      });
    },
  };
  return { __proto__: null, globals, wait, fire };
})
