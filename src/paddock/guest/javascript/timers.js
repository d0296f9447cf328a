// Timers and queueMicrotask. `host` has `now()`, `raised(error)`, and `arm()`, which is called when a timer is set.
//
// Timers with the same due time run in the order in which they were set. Promise jobs run between two timers.
(function (primordials, host) {
  'use strict';
  const {
    Map, MapPrototypeDelete, MapPrototypeGet, MapPrototypeSet, PromisePrototypeThen, PromiseResolve, ReflectApply,
    TypeError,
  } = primordials;
  const MAX_DELAY = 2 ** 31 - 1;
  const timers = new Map(); // by id
  const sentinel = { __proto__: null }; // head of a circular list in the order of due times
  sentinel.next = sentinel.previous = sentinel;
  let lastId = 0;

  function checkCallback(callback) {
    if (typeof callback !== 'function') throw new TypeError('The "callback" argument must be of type function.');
  }

  function insert(timer) {
    timer.due = host.now() + timer.wait;
    let before = sentinel.previous; // usually the right position
    while (before !== sentinel && before.due > timer.due) before = before.previous;
    timer.previous = before;
    timer.next = before.next;
    before.next = timer.next.previous = timer;
  }

  function remove(timer) {
    timer.previous.next = timer.next;
    timer.next.previous = timer.previous;
  }

  function set(callback, delay, args, isRepeated) {
    checkCallback(callback);
    const milliseconds = +delay;
    const wait = milliseconds >= 1 && milliseconds <= MAX_DELAY ? milliseconds : 1;
    const id = ++lastId;
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

  // Milliseconds until the next timer is due; negative if there is none.
  function wait() {
    if (sentinel.next === sentinel) return -1;
    const remaining = sentinel.next.due - host.now();
    return remaining > 0 ? remaining : 0;
  }

  // Runs the first timer.
  function fire() {
    const timer = sentinel.next;
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
      checkCallback(callback);
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
