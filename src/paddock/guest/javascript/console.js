(function (taken, host, inspect) {
  'use strict';
  const LOG = 21;
  const console = {};
  for (const level of ['log', 'info', 'warn', 'error', 'debug']) {
    console[level] = { [level](...args) { let text = ''; for (let i = 0; i < args.length; i++) text += (i ? ' ' : '') + (typeof args[i] === 'string' ? args[i] : inspect(args[i])); host.emit(LOG, 0, `{"level":"${level}"}`, text); } }[level];
  }
  return { __proto__: null, console };
})
