// URL and URLSearchParams.
(function (taken, parser, kinds) {
  'use strict';
  const { decoded, encoded, hrefOf, isSpecial, parse, pathOf, portOf, searchOf, segments, USER } = parser;
  const {
    ArrayPrototypeSort, ObjectKeys, StringPrototypeIndexOf: indexOf, StringPrototypeReplaceAll: replaceAll,
    StringPrototypeSlice: part, StringPrototypeSplit: splitText, StringPrototypeStartsWith: startsWith,
    StringPrototypeToWellFormed: wellFormed, TypeError, push, textOf,
  } = taken;
  const ITERATOR = Symbol.iterator;
  const FORM = ' !"#$%&\'()+,/:;<=>?@[\\]^`{|}~';
  const word = (value) => wellFormed(textOf(value));
  const formEncoded = (text) => replaceAll(encoded(replaceAll(text, '%', '%25'), FORM.replace('%', '')), '%20', '+');
  const formDecoded = (text) => decoded(replaceAll(text, '+', ' '));

  class URLSearchParams {
    #pairs = [];
    #changed = null; // tells the URL that these belong to

    constructor(init = undefined) {
      if (init === undefined || init === null) return;
      if (typeof init === 'object' || typeof init === 'function') {
        if (typeof init[ITERATOR] === 'function') {
          for (const pair of init) {
            const both = [...pair];
            if (both.length !== 2) throw new TypeError('Each query pair must be an iterable [name, value] tuple');
            push(this.#pairs, [word(both[0]), word(both[1])]);
          }
        } else for (const key of ObjectKeys(init)) push(this.#pairs, [word(key), word(init[key])]);
      } else this.#parse(word(init));
    }

    #parse(text) {
      this.#pairs = [];
      const pieces = splitText(startsWith(text, '?') ? part(text, 1) : text, '&');
      for (let index = 0; index < pieces.length; index++) {
        const piece = pieces[index];
        if (piece === '') continue;
        const middle = indexOf(piece, '=');
        const name = middle < 0 ? piece : part(piece, 0, middle);
        push(this.#pairs, [formDecoded(name), middle < 0 ? '' : formDecoded(part(piece, middle + 1))]);
      }
    }

    #keep(pairs) {
      this.#pairs = pairs;
      this.#changed?.(this.toString());
    }

    get size() { return this.#pairs.length; }
    append(name, value) { this.#keep([...this.#pairs, [word(name), word(value)]]); }
    delete(name, value = undefined) {
      const key = word(name);
      this.#keep(this.#pairs.filter((pair) => pair[0] !== key || (value !== undefined && pair[1] !== word(value))));
    }
    get(name) {
      const key = word(name);
      return this.#pairs.find((pair) => pair[0] === key)?.[1] ?? null;
    }
    getAll(name) {
      const key = word(name);
      return this.#pairs.filter((pair) => pair[0] === key).map((pair) => pair[1]);
    }
    has(name, value = undefined) {
      const key = word(name);
      return this.#pairs.some((pair) => pair[0] === key && (value === undefined || pair[1] === word(value)));
    }
    set(name, value) {
      const key = word(name);
      const first = this.#pairs.findIndex((pair) => pair[0] === key);
      if (first < 0) return this.append(name, value);
      this.#keep(this.#pairs.filter((pair, at) => pair[0] !== key || at === first)
        .map((pair, at) => (at === first ? [key, word(value)] : pair)));
    }
    sort() { this.#keep(ArrayPrototypeSort(this.#pairs, (a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0))); }
    forEach(callback, self = undefined) {
      for (const pair of this.#pairs) callback.call(self, pair[1], pair[0], this);
    }
    *entries() { for (const pair of this.#pairs) yield [pair[0], pair[1]]; }
    *keys() { for (const pair of this.#pairs) yield pair[0]; }
    *values() { for (const pair of this.#pairs) yield pair[1]; }
    [ITERATOR]() { return this.entries(); }
    toString() {
      let text = '';
      for (let index = 0; index < this.#pairs.length; index++) {
        const pair = this.#pairs[index];
        text += (index === 0 ? '' : '&') + formEncoded(pair[0]) + '=' + formEncoded(pair[1]);
      }
      return text;
    }

    static of(search, changed) {
      const params = new URLSearchParams(search);
      params.#changed = changed;
      return params;
    }
    static renew(params, search) { params.#parse(search); }
    static pairs(value) { return #pairs in value ? value.#pairs : undefined; }
  }
  const { of, renew, pairs } = URLSearchParams;
  for (const name of ['of', 'renew', 'pairs']) delete URLSearchParams[name];

  class URL {
    #url;
    #params;

    constructor(url, base = undefined) {
      this.#url = parse(word(url), base === undefined ? undefined : parse(word(base)));
    }
    static canParse(url, base = undefined) { return URL.parse(url, base) !== null; }
    static parse(url, base = undefined) {
      try {
        return new URL(url, base);
      } catch {
        return null;
      }
    }
    static record(value) { return #url in value ? value.#url : undefined; }

    get href() { return hrefOf(this.#url); }
    set href(value) { this.#url = parse(word(value)); this.#renew(); }
    get origin() {
      const { protocol } = this.#url;
      return isSpecial(this.#url) && protocol !== 'file:' ? protocol + '//' + this.host : 'null';
    }
    get protocol() { return this.#url.protocol; }
    set protocol(value) {
      const next = { ...this.#url, protocol: word(value).split(':')[0].toLowerCase() + ':' };
      if (/^[a-z][a-z0-9+.-]*:$/.test(next.protocol) && isSpecial(next) === isSpecial(this.#url)) {
        this.#url.protocol = next.protocol;
        this.#url.port = portOf(this.#url, this.#url.port, '');
      }
    }
    get username() { return this.#url.username; }
    set username(value) { this.#url.username = encoded(word(value), USER); }
    get password() { return this.#url.password; }
    set password(value) { this.#url.password = encoded(word(value), USER); }
    get host() { return (this.#url.hostname ?? '') + (this.#url.port === '' ? '' : ':' + this.#url.port); }
    set host(value) { this.#authority(word(value)); }
    get hostname() { return this.#url.hostname ?? ''; }
    set hostname(value) {
      const text = word(value);
      if (startsWith(text, '[') || !text.includes(':')) this.#authority(text);
    }
    #authority(text) {
      if (typeof this.#url.path === 'string') return;
      const next = { ...this.#url, __proto__: null };
      try {
        parser.authority(next, text.split(/[/?#\\]/)[0].replaceAll('@', '%40'), text);
        this.#url = next;
      } catch {
        // a setter ignores what is not valid
      }
    }
    get port() { return this.#url.port; }
    set port(value) {
      const digits = /^[0-9]*/.exec(word(value))[0];
      if (this.#url.hostname && (digits !== '' || word(value) === '') && +digits <= 65535) {
        this.#url.port = portOf(this.#url, digits, '');
      }
    }
    get pathname() { return pathOf(this.#url); }
    set pathname(value) {
      if (typeof this.#url.path === 'string') return;
      const text = word(value).replaceAll('?', '%3F').replaceAll('#', '%23');
      this.#url.path = segments(/^[/\\]/.test(text) ? part(text, 1) : text, [], this.#url);
    }
    get search() { return this.#url.search === '?' ? '' : this.#url.search; }
    set search(value) {
      const text = word(value).replaceAll('#', '%23');
      const bare = startsWith(text, '?') ? part(text, 1) : text;
      this.#url.search = bare === '' ? '' : searchOf(this.#url, '?' + bare);
      this.#renew();
    }
    #renew() { if (this.#params !== undefined) renew(this.#params, this.#url.search); }
    get searchParams() {
      this.#params ??= of(this.#url.search, (text) => { this.#url.search = text === '' ? '' : '?' + text; });
      return this.#params;
    }
    get hash() { return this.#url.hash === '#' ? '' : this.#url.hash; }
    set hash(value) {
      const text = word(value);
      const bare = startsWith(text, '#') ? part(text, 1) : text;
      this.#url.hash = bare === '' ? '' : '#' + encoded(bare, parser.FRAGMENT);
    }
    toString() { return this.href; }
    toJSON() { return this.href; }
  }
  const { record } = URL;
  delete URL.record;
  // What console.log shows of them.
  kinds.hrefOf = (value) => (record(value) === undefined ? undefined : hrefOf(record(value)));
  kinds.pairsOf = pairs;

  for (const type of [URL, URLSearchParams]) {
    Object.defineProperty(type.prototype, Symbol.toStringTag, { value: type.name, configurable: true });
    for (const key of Object.getOwnPropertyNames(type.prototype)) {
      if (key !== 'constructor') {
        const own = Object.getOwnPropertyDescriptor(type.prototype, key);
        Object.defineProperty(type.prototype, key, { ...own, enumerable: true });
      }
    }
  }
  return { __proto__: null, URL, URLSearchParams };
})
