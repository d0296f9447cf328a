// gives: ["{\"id\":12345678901234567890}", true, false]
// since: 2026
[JSON.stringify({ id: JSON.rawJSON('12345678901234567890') }), JSON.isRawJSON(JSON.rawJSON('1')), JSON.isRawJSON(1)]
