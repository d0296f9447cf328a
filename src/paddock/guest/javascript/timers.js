// The four timers and queueMicrotask. `host` has `now()`, `raised(error)`, and `arm()`, called when a timer was set.
//
// Timers of one due time run in the order in which they were set; promise jobs run between two of them.
(function (primordials, host) {
  'use strict';
  const {
    Map, MapPrototypeDelete, MapPrototypeGet, MapPrototypeSet, PromisePrototypeThen, PromiseResolve, ReflectApply,
    TypeError,
  } = primordials;
  const LONGEST = 2 ** 31 - 1;
  const timers = new Map(); // by id
  const ends = { __proto__: null }; // of a ring in the order of due times
  ends.next = ends.previous = ends;
  let ids = 0;

  function checked(callback) {
    if (typeof callback !== 'function') throw new TypeError('The "callback" argument must be of type function.');
  }

  function insert(timer) {
    timer.due = host.now() + timer.wait;
    let before = ends.previous; // mostly the right place
    while (before !== ends && before.due > timer.due) before = before.previous;
    timer.previous = before;
    timer.next = before.next;
    before.next = timer.next.previous = timer;
  }

  function remove(timer) {
    timer.previous.next = timer.next;
    timer.next.previous = timer.previous;
  }

  function set(callback, delay, args, isRepeated) {
    checked(callback);
    const milliseconds = +delay;
    const wait = milliseconds >= 1 && milliseconds <= LONGEST ? milliseconds : 1;
    const id = ++ids;
    const timer = { __proto__: null, id, callback, args, wait, isRepeated };
    MapPrototypeSet(timers, id, timer);
    insert(timer);
    host.arm();
    return id;
  }

  function clear(id) {
    const timer = MapPrototypeGet(timers, id);
    if (timer === undefined) return;
    MapPrototypeDelete(timers, id);
    remove(timer);
  }

  // Milliseconds until a timer is due; negative where there is none.
  function wait() {
    if (ends.next === ends) return -1;
    const left = ends.next.due - host.now();
    return left > 0 ? left : 0;
  }

  // Runs the first timer.
  function fire() {
    const timer = ends.next;
    remove(timer);
    if (timer.isRepeated) insert(timer);
    else MapPrototypeDelete(timers, timer.id);
    try {
      ReflectApply(timer.callback, undefined, timer.args);
    } catch (error) {
      host.raised(error);
    }
  }

  const globals = {
    __proto__: null,
    setTimeout(callback, delay, ...args) { return set(callback, delay, args, false); },
    setInterval(callback, delay, ...args) { return set(callback, delay, args, true); },
    clearTimeout(id) { clear(id); },
    clearInterval(id) { clear(id); },
    queueMicrotask(callback) {
      checked(callback);
      PromisePrototypeThen(PromiseResolve(), () => {
        try {
          callback();
        } catch (error) {
          host.raised(error);
        }
      });
    },
  };
  return { __proto__: null, globals, wait, fire };
})
