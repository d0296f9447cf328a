// The parser of the URL standard (url.spec.whatwg.org), in the steps that it describes, without its state machine.
(function (taken, host) {
  'use strict';
  const { TypeError } = taken;
  const PORTS = {
    __proto__: null, 'http:': '80', 'https:': '443', 'ws:': '80', 'wss:': '443', 'ftp:': '21', 'file:': '',
  };
  const exec = taken.uncurry(RegExp.prototype.exec);
  const {
    ArrayPrototypeJoin: join, ArrayPrototypePop: pop, ArrayPrototypeSlice: slice, NumberParseInt,
    NumberPrototypeToString: numberText, StringPrototypeCharCodeAt: codeAt, StringPrototypeIncludes: includes,
    StringPrototypeIndexOf: indexOf, StringPrototypeLastIndexOf: lastIndexOf, StringPrototypePadStart: padStart,
    StringPrototypeReplaceAll: replaceAll, StringPrototypeSlice: part, StringPrototypeSplit: splitText,
    StringPrototypeStartsWith: startsWith, StringPrototypeToLowerCase: lower, StringPrototypeToUpperCase: upper, push,
  } = taken;
  const DOUBLE_DOT = { __proto__: null, '..': 1, '.%2e': 1, '%2e.': 1, '%2e%2e': 1 };
  const FRAGMENT = ' "<>`';
  const QUERY = ' "#<>';
  const PATH = QUERY + '?^`{}';
  const USER = PATH + '/:;=@[\\]|';
  const FORBIDDEN = /[\0\t\n\r #/:<>?@[\\\]^|]/;

  const isSpecial = (url) => PORTS[url.protocol] !== undefined;
  const invalid = (text) => {
    const error = new TypeError('Invalid URL');
    error.code = 'ERR_INVALID_URL';
    error.input = text;
    return error;
  };

  // The text with every character of `set`, and what is not printable ASCII, percent-encoded.
  function encoded(text, set) {
    if (exec(/^[A-Za-z0-9_.~%/-]*$/, text) !== null) return text;
    const bytes = host.ask('encode', text, true);
    let result = '';
    for (let index = 0; index < bytes.length; index++) {
      const byte = bytes[index];
      const character = taken.StringFromCharCode(byte);
      result += byte < 0x20 || byte > 0x7e || includes(set, character)
        ? '%' + (padStart(upper(numberText(byte, 16)), 2, '0')) : character;
    }
    return result;
  }

  // Percent-decoded bytes as text.
  function decoded(text) {
    if (!includes(text, '%')) return text;
    const bytes = host.ask('encode', text, true);
    let count = 0;
    for (let index = 0; index < bytes.length; index++, count++) {
      const hex = bytes[index] === 0x25 && index + 2 < bytes.length
        ? taken.StringFromCharCode(bytes[index + 1], bytes[index + 2]) : '';
      if (exec(/^[0-9a-fA-F]{2}$/, hex) !== null) {
        bytes[count] = NumberParseInt(hex, 16);
        index += 2;
      } else bytes[count] = bytes[index];
    }
    return host.ask('decode utf-8', taken.TypedArrayPrototypeSubarray(bytes, 0, count), false);
  }

  function ipv4(host4, text) {
    const parts = splitText(host4, '.');
    if (parts.length > 1 && parts[parts.length - 1] === '') pop(parts);
    const last = parts[parts.length - 1];
    if (exec(/^([0-9]+|0[xX][0-9a-fA-F]*)$/, last) === null) return undefined;
    if (parts.length > 4) throw invalid(text);
    let address = 0;
    for (let index = 0; index < parts.length; index++) {
      const digits = parts[index];
      const [base, match] = exec(/^0[xX][0-9a-fA-F]*$/, digits) !== null ? [16, part(digits, 2) || '0']
        : exec(/^0[0-7]*$/, digits) !== null ? [8, digits] : [10, digits];
      if (base === 10 && exec(/^[1-9][0-9]*$/, match) === null) throw invalid(text);
      const value = NumberParseInt(match, base);
      const isLast = index === parts.length - 1;
      if (isLast ? value >= 256 ** (5 - parts.length) : value > 255) throw invalid(text);
      address += isLast ? value : value * 256 ** (3 - index);
    }
    return (address >>> 24) + '.' + ((address >>> 16) & 255) + '.' + ((address >>> 8) & 255) + '.' + (address & 255);
  }

  function ipv6(inner, text) {
    let body = inner;
    const dotted = exec(/^(.*:)([0-9]+)\.([0-9]+)\.([0-9]+)\.([0-9]+)$/, body);
    if (dotted !== null) {
      for (let index = 2; index < 6; index++) if (+dotted[index] > 255) throw invalid(text);
      const high = numberText(dotted[2] * 256 + +dotted[3], 16);
      body = dotted[1] + high + ':' + numberText(dotted[4] * 256 + +dotted[5], 16);
    }
    const halves = splitText(body, '::');
    if (halves.length > 2) throw invalid(text);
    const pieces = (half) => (half === '' ? [] : splitText(half, ':'));
    const front = pieces(halves[0]);
    const back = halves.length === 2 ? pieces(halves[1]) : [];
    const missing = 8 - front.length - back.length;
    if (halves.length === 2 ? missing < 1 : missing !== 0) throw invalid(text);
    const all = [];
    for (let index = 0; index < 8; index++) {
      const fromBack = index - front.length - missing;
      const piece = index < front.length ? front[index] : fromBack < 0 ? '0' : back[fromBack];
      if (exec(/^[0-9a-fA-F]{1,4}$/, piece) === null) throw invalid(text);
      push(all, NumberParseInt(piece, 16));
    }
    let best = -1;
    let longest = 1;
    for (let index = 0; index < 8; index++) {
      let run = 0;
      while (index + run < 8 && all[index + run] === 0) run++;
      if (run > longest) {
        best = index;
        longest = run;
      }
    }
    let result = '';
    for (let index = 0; index < 8; index++) {
      if (index === best) {
        result += '::';
        index += longest - 1;
      } else result += (result === '' || result[result.length - 1] === ':' ? '' : ':') + numberText(all[index], 16);
    }
    return '[' + result + ']';
  }

  function hostOf(name, url, text) {
    if (startsWith(name, '[')) {
      if (name[name.length - 1] !== ']') throw invalid(text);
      return ipv6(part(name, 1, -1), text);
    }
    if (!isSpecial(url)) {
      if (exec(FORBIDDEN, name) !== null) throw invalid(text);
      return encoded(name, '');
    }
    let ascii = lower(decoded(name));
    try {
      if (exec(/^[\0-\x7f]*$/, ascii) === null) ascii = lower(host.ask('host', ascii, false));
    } catch {
      throw invalid(text);
    }
    if (ascii === '' || exec(FORBIDDEN, ascii) !== null || exec(/[\0-\x20\x7f%]/, ascii) !== null) throw invalid(text);
    return ipv4(ascii, text) ?? ascii;
  }

  function authority(url, given, text) {
    const at = lastIndexOf(given, '@');
    if (at >= 0) {
      const user = part(given, 0, at);
      const colon = indexOf(user, ':');
      url.username = encoded(colon < 0 ? user : part(user, 0, colon), USER);
      url.password = colon < 0 ? '' : encoded(part(user, colon + 1), USER);
    }
    const rest = part(given, at + 1);
    const port = exec(/:([0-9]*)$/, rest);
    const name = port === null ? rest : part(rest, 0, -port[0].length);
    if (name === '' && ((isSpecial(url) && url.protocol !== 'file:') || at >= 0 || port !== null)) throw invalid(text);
    url.hostname = name === '' ? '' : hostOf(name, url, text);
    if (port !== null) url.port = portOf(url, port[1], text);
  }

  function portOf(url, digits, text) {
    if (digits === '') return '';
    if (exec(/^[0-9]+$/, digits) === null || +digits > 65535) throw invalid(text);
    return '' + (+digits) === PORTS[url.protocol] ? '' : '' + (+digits);
  }

  // The segments of a path after those of `base`, dots resolved.
  function segments(given, base, url) {
    const path = slice(base);
    const pieces = splitText(isSpecial(url) ? replaceAll(given, '\\', '/') : given, '/');
    for (let index = 0; index < pieces.length; index++) {
      const isLast = index === pieces.length - 1;
      const dots = lower(pieces[index]);
      if (DOUBLE_DOT[dots]) {
        const keepsDrive = url.protocol === 'file:' && path.length === 1 && exec(/^[a-zA-Z]:$/, path[0]) !== null;
        if (path.length > 0 && !keepsDrive) pop(path);
        if (isLast) push(path, '');
      } else if (dots === '.' || dots === '%2e') {
        if (isLast) push(path, '');
      } else push(path, encoded(pieces[index], PATH));
    }
    return path;
  }

  const before = (text, mark) => (indexOf(text, mark) < 0 ? text : part(text, 0, indexOf(text, mark)));
  const from = (text, mark) => (indexOf(text, mark) < 0 ? '' : part(text, indexOf(text, mark)));

  // A record: protocol, username, password, hostname (null: none), port, path (a list, or text where it is opaque),
  // search and hash, each with its mark if that is there.
  function parse(given, base) {
    const trimmed = exec(/^[\0-\x20]*([^]*?)[\0-\x20]*$/, given)[1];
    const text = replaceAll(replaceAll(replaceAll(trimmed, '\t', ''), '\n', ''), '\r', '');
    const hash = from(text, '#');
    const rest = before(text, '#');
    const url = {
      __proto__: null, protocol: '', username: '', password: '', hostname: null, port: '', path: [], search: '',
      hash: hash === '' ? '' : '#' + encoded(part(hash, 1), FRAGMENT),
    };
    const scheme = exec(/^([a-zA-Z][a-zA-Z0-9+.-]*):/, rest);
    let body = rest;
    if (scheme !== null) {
      url.protocol = lower(scheme[0]);
      body = part(rest, scheme[0].length);
      const isSame = base !== undefined && isSpecial(url) && base.protocol === url.protocol;
      const isRelative = isSame && exec(/^[/\\]/, body) === null;
      if (!isRelative) return absolute(url, body, given);
    } else if (base === undefined || (typeof base.path === 'string' && body !== '')) throw invalid(given);
    return relative(url, body, base, given);
  }

  function searchOf(url, found) {
    return found === '' ? '' : '?' + encoded(part(found, 1), isSpecial(url) ? QUERY + "'" : QUERY);
  }

  function absolute(url, body, given) {
    url.search = searchOf(url, from(body, '?'));
    const rest = before(body, '?');
    if (isSpecial(url) && url.protocol !== 'file:') {
      const after = exec(/^[/\\]*([^]*)$/, rest)[1];
      const end = exec(/^[^/\\]*/, after)[0];
      authority(url, end, given);
      url.path = segments(part(after, end.length + 1), [], url);
    } else if (startsWith(rest, '//')) {
      const end = exec(/^[^/]*/, part(rest, 2))[0];
      authority(url, url.protocol === 'file:' && end === 'localhost' ? '' : end, given);
      const path = part(rest, 2 + end.length);
      url.path = path === '' ? (isSpecial(url) ? [''] : []) : segments(part(path, 1), [], url);
    } else if (startsWith(rest, '/') || url.protocol === 'file:') {
      if (url.protocol === 'file:') url.hostname = '';
      url.path = segments(startsWith(rest, '/') ? part(rest, 1) : rest, [], url);
    } else url.path = encoded(rest, '');
    return url;
  }

  function relative(url, body, base, given) {
    url.protocol = base.protocol;
    const slashes = isSpecial(url) ? /^[/\\]{2}/ : /^\/\//;
    if (exec(slashes, body) !== null) return absolute(url, body, given);
    url.username = base.username;
    url.password = base.password;
    url.hostname = base.hostname;
    url.port = base.port;
    const path = before(body, '?');
    const search = from(body, '?');
    url.search = search === '' && path === '' ? base.search : searchOf(url, search);
    if (typeof base.path === 'string') url.path = base.path;
    else if (path === '') url.path = base.path;
    else if (exec(isSpecial(url) ? /^[/\\]/ : /^\//, path) !== null) url.path = segments(part(path, 1), [], url);
    else url.path = segments(path, slice(base.path, 0, -1), url);
    return url;
  }

  function pathOf(url) {
    if (typeof url.path === 'string') return url.path;
    return url.path.length === 0 ? '' : '/' + join(url.path, '/');
  }

  function hrefOf(url) {
    let text = url.protocol;
    if (url.hostname !== null) {
      text += '//';
      if (url.username !== '' || url.password !== '') {
        text += url.username + (url.password === '' ? '' : ':' + url.password) + '@';
      }
      text += url.hostname + (url.port === '' ? '' : ':' + url.port);
    } else if (typeof url.path !== 'string' && url.path.length > 1 && url.path[0] === '') text += '/.';
    return text + pathOf(url) + url.search + url.hash;
  }

  return {
    __proto__: null, FRAGMENT, QUERY, PATH, USER, authority, decoded, encoded, hostOf, hrefOf, isSpecial, parse, pathOf,
    portOf, searchOf, segments,
  };
})
