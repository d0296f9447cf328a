// gives: ["Thu Jan 01 1970 00:00:00 GMT+0000", "Thu, 01 Jan 1970 00:00:00 GMT", "Thu Jan 01 1970", "00:00:00 GMT+0000", "Invalid Date"]
const d = new Date(0)
const withoutZone = (text) => text.replace(/ \(.*\)$/, '')
;[withoutZone(d.toString()), d.toUTCString(), d.toDateString(), withoutZone(d.toTimeString()), String(new Date(NaN))]
