// gives: ["Thu Jan 01 1970 00:00:00 GMT+0000", "Thu, 01 Jan 1970 00:00:00 GMT", "Thu Jan 01 1970", "00:00:00 GMT+0000", "Invalid Date"]
const d = new Date(0)
;[d.toString().slice(0, 33), d.toUTCString(), d.toDateString(), d.toTimeString().slice(0, 17), String(new Date(NaN))]
