// The frame that shows an array of objects as a table: a text with the first rows, and all rows as JSON.
(function (primordials) {
  'use strict';
  const {
    ArrayIsArray, ArrayPrototypeIncludes, JSONStringify, MathMax, MathMin, ObjectKeys, StringPrototypeCharCodeAt,
    StringPrototypePadEnd, StringPrototypeSlice, StringPrototypeToWellFormed, push, textOf,
  } = primordials;
  const DISPLAY = 28;
  const [ROWS, COLUMNS, CHARACTERS] = [20, 20, 40];
  const DATA_BYTES = 512 * 1024;

  // The keys of the first rows; undefined if these are not all plain objects with data.
  function columnsOf(rows) {
    const columns = [];
    for (let at = 0; at < MathMin(rows.length, ROWS); at++) {
      const row = rows[at];
      if (typeof row !== 'object' || row === null || ArrayIsArray(row) || typeof row.toJSON === 'function') {
        return undefined;
      }
      const keys = ObjectKeys(row);
      for (let index = 0; index < keys.length && columns.length < COLUMNS; index++) {
        if (!ArrayPrototypeIncludes(columns, keys[index])) push(columns, keys[index]);
      }
    }
    return columns.length > 0 ? columns : undefined;
  }

  function cell(value) {
    let text = '';
    if (typeof value === 'string') text = value;
    else if (value !== undefined) text = typeof value === 'bigint' ? textOf(value) : textOf(JSONStringify(value) ?? '');
    return text.length > CHARACTERS ? StringPrototypeSlice(text, 0, CHARACTERS - 1) + '…' : text;
  }

  function draw(rows, columns) {
    const lines = [''];
    const count = MathMin(rows.length, ROWS);
    for (let index = 0; index < columns.length; index++) {
      const cells = [cell(columns[index])];
      for (let at = 0; at < count; at++) push(cells, cell(rows[at][columns[index]]));
      let width = 0;
      for (let at = 0; at < cells.length; at++) width = MathMax(width, cells[at].length);
      for (let at = 0; at < cells.length; at++) {
        const padded = index + 1 < columns.length ? StringPrototypePadEnd(cells[at], width + 2) : cells[at];
        lines[at] = (lines[at] ?? '') + padded;
      }
    }
    let text = '';
    for (let at = 0; at < lines.length; at++) text += lines[at] + '\n';
    const more = rows.length > ROWS ? ', the first ' + ROWS + ' above' : '';
    return text + '[' + rows.length + (rows.length === 1 ? ' row x ' : ' rows x ') + columns.length +
      (columns.length === 1 ? ' column' : ' columns') + more + ']';
  }

  function utf8Bytes(text) {
    let bytes = text.length;
    for (let at = 0; at < text.length; at++) {
      const code = StringPrototypeCharCodeAt(text, at);
      if (code > 0x7f) bytes += code > 0x7ff && !(code >= 0xd800 && code < 0xe000) ? 2 : 1;
    }
    return bytes;
  }

  // Emits the frame of a value whose JSON is `json`, if the value is an array of objects. Returns whether it is one.
  return function show(value, json, emit, isResult = true) {
    try {
      if (!ArrayIsArray(value) || value.length === 0) return false;
      const columns = columnsOf(value);
      if (columns === undefined) return false;
      const text = StringPrototypeToWellFormed(StringPrototypeSlice(draw(value, columns), 0, 9000));
      const fits = utf8Bytes(json) <= DATA_BYTES;
      const header = '{"type":"table","mime_type":"application/json","is_result":' + isResult +
        ',"text_bytes":' + utf8Bytes(text) + ',"data_bytes":' + (fits ? utf8Bytes(json) : 0) + '}';
      emit(DISPLAY, 0, header, fits ? text + json : text);
      return true;
    } catch {
      return false; // a getter of the script failed, or memory is short: the value is sent all the same
    }
  };
})
