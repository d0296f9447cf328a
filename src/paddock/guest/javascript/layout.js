// How what is shown is laid out, by Node's rules: quotes, columns for long lists, one line where that is enough.
(function (taken) {
  'use strict';
  const {
    MathFloor, MathMax, MathMin, MathRound, MathSqrt, NumberPrototypeToString, StringPrototypeCharCodeAt,
    StringPrototypeCodePointAt, StringPrototypeIncludes, StringPrototypeIndexOf, StringPrototypePadEnd,
    StringPrototypePadStart, StringPrototypeRepeat, StringPrototypeSlice, StringPrototypeToUpperCase, push, uncurry,
  } = taken;
  const LINE = 80;
  const COMPACT = 3; // so many levels of nesting may stand on one line
  const MOST_ITEMS = 100;
  const isPlain = uncurry(RegExp.prototype.exec).bind(undefined, /^[\x20-\x26\x28-\x5b\x5d-\x7e]*$/);
  const ESCAPES = {
    __proto__: null, 8: '\\b', 9: '\\t', 10: '\\n', 12: '\\f', 13: '\\r', 92: '\\\\', 39: "\\'",
  };

  function escaped(code) {
    const hex = StringPrototypeToUpperCase(NumberPrototypeToString(code, 16));
    return ESCAPES[code] ?? '\\x' + StringPrototypePadStart(hex, 2, '0');
  }

  // A string in the quotes that need the least escaping.
  function quoted(text) {
    if (isPlain(text) !== null) return "'" + text + "'";
    let quote = "'";
    if (StringPrototypeIncludes(text, "'")) {
      if (!StringPrototypeIncludes(text, '"')) quote = '"';
      else if (!StringPrototypeIncludes(text, '`') && !StringPrototypeIncludes(text, '${')) quote = '`';
    }
    let result = '';
    let last = 0;
    for (let index = 0; index < text.length; index++) {
      const code = StringPrototypeCharCodeAt(text, index);
      let shown;
      if (code < 32 || code === 92 || (code > 126 && code < 160) || (code === 39 && quote === "'")) {
        shown = escaped(code);
      } else if (code >= 0xd800 && code <= 0xdfff) {
        const next = StringPrototypeCharCodeAt(text, index + 1);
        if (code <= 0xdbff && next >= 0xdc00 && next <= 0xdfff) {
          index++;
          continue;
        }
        shown = '\\u' + NumberPrototypeToString(code, 16);
      } else continue;
      result += StringPrototypeSlice(text, last, index) + shown;
      last = index + 1;
    }
    return quote + result + StringPrototypeSlice(text, last) + quote;
  }

  // First and last of each range of characters.
  const NONE = [0, 31, 0x7f, 0x9f, 0x300, 0x36f, 0x200b, 0x200f, 0x20d0, 0x20ff, 0xfe00, 0xfe0f];
  const WIDE = [0x1100, 0x115f, 0x2e80, 0x303e, 0x3040, 0x3247, 0x3250, 0x4dbf, 0x4e00, 0xa4c6, 0xac00, 0xd7a3, 0xf900,
    0xfaff, 0xff01, 0xff60, 0xffe0, 0xffe6, 0x1f300, 0x1f64f, 0x1f900, 0x1f9ff, 0x20000, 0x3fffd];

  function isIn(ranges, code) {
    for (let index = 0; index < ranges.length; index += 2) {
      if (code >= ranges[index] && code <= ranges[index + 1]) return true;
    }
    return false;
  }

  // Columns on a terminal: East Asian characters and emoji take two, combining ones none.
  function width(text) {
    if (isPlain(text) !== null) return text.length;
    let columns = 0;
    for (let index = 0; index < text.length; index++) {
      const code = StringPrototypeCodePointAt(text, index);
      if (code > 0xffff) index++;
      columns += isIn(NONE, code) ? 0 : isIn(WIDE, code) ? 2 : 1;
    }
    return columns;
  }

  function isOfNumbers(value, length) {
    for (let index = 0; index < length; index++) {
      if (typeof value[index] !== 'number' && typeof value[index] !== 'bigint') return false;
    }
    return true;
  }

  // The entries of an array in columns, several to a line, where that makes it shorter.
  function grouped(entries, value, indentation) {
    const hasMore = entries.length > MOST_ITEMS;
    const count = entries.length - (hasMore ? 1 : 0);
    const lengths = [];
    let total = 0;
    let longest = 0;
    for (let index = 0; index < count; index++) {
      const length = width(entries[index]);
      push(lengths, length);
      total += length + 2;
      longest = MathMax(longest, length);
    }
    const most = longest + 2;
    if (most * 3 + indentation >= LINE || !(total / most > 5 || longest <= 6)) return entries;
    const bias = MathMax(most - 3 - MathSqrt(most - total / entries.length), 1);
    const columns = MathMin(
      MathRound(MathSqrt(2.5 * bias * count) / bias), MathFloor((LINE - indentation) / most), COMPACT * 4, 15,
    );
    if (columns <= 1) return entries;
    const widths = [];
    for (let column = 0; column < columns; column++) {
      let widest = 0;
      for (let index = column; index < count; index += columns) widest = MathMax(widest, lengths[index]);
      push(widths, widest + 2);
    }
    const isRight = value === undefined || isOfNumbers(value, entries.length);
    const pad = isRight ? StringPrototypePadStart : StringPrototypePadEnd;
    const lines = [];
    for (let first = 0; first < count; first += columns) {
      const last = MathMin(first + columns, count) - 1;
      let line = '';
      for (let index = first; index < last; index++) {
        const extra = entries[index].length - lengths[index];
        line += pad(entries[index] + ', ', widths[index - first] + extra, ' ');
      }
      const room = widths[last - first] + entries[last].length - lengths[last] - 2;
      push(lines, line + (isRight ? StringPrototypePadStart(entries[last], room, ' ') : entries[last]));
    }
    if (hasMore) push(lines, entries[count]);
    return lines;
  }

  function joined(entries, separator) {
    let text = '';
    for (let index = 0; index < entries.length; index++) text += (index === 0 ? '' : separator) + entries[index];
    return text;
  }

  function fits(entries, start, base) {
    let total = entries.length + start;
    if (total + entries.length > LINE) return false;
    for (let index = 0; index < entries.length; index++) {
      total += entries[index].length;
      if (total > LINE) return false;
    }
    return base === '' || !StringPrototypeIncludes(base, '\n');
  }

  // `state` has the indentation and the depth of what was shown last; `list` is the array that is shown, if it is one.
  function enclosed(state, given, base, open, close, depth, list) {
    const before = base === '' ? '' : base + ' ';
    const entries = list !== null && given.length > 6 ? grouped(given, list, state.indentation) : given;
    if (state.depth - depth < COMPACT && entries === given) {
      if (fits(entries, entries.length + state.indentation + open.length + base.length + 10, base)) {
        const line = joined(entries, ', ');
        if (!StringPrototypeIncludes(line, '\n')) return before + open + ' ' + line + ' ' + close;
      }
    }
    const margin = '\n' + StringPrototypeRepeat(' ', state.indentation);
    return before + open + margin + '  ' + joined(entries, ',' + margin + '  ') + margin + close;
  }

  // A string inside something else; one that is too long for a line is broken after its own line ends.
  function string(text, indentation) {
    let more = '';
    if (text.length > 10000) {
      const left = text.length - 10000;
      more = '... ' + left + ' more character' + (left > 1 ? 's' : '');
      text = StringPrototypeSlice(text, 0, 10000);
    }
    if (text.length <= 16 || text.length <= LINE - indentation - 4) return quoted(text) + more;
    const lines = [];
    for (let start = 0; start < text.length;) {
      const end = StringPrototypeIndexOf(text, '\n', start);
      const next = end < 0 ? text.length : end + 1;
      push(lines, quoted(StringPrototypeSlice(text, start, next)));
      start = next;
    }
    return joined(lines, ' +\n' + StringPrototypeRepeat(' ', indentation + 2)) + more;
  }

  return { __proto__: null, MOST_ITEMS, enclosed, quoted, string };
})
