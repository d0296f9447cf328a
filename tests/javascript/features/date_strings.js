// gives: ["Thu Jan 01 1970 00:00:00 GMT+0000 (Coordinated Universal Time)", "Thu, 01 Jan 1970 00:00:00 GMT", "Thu Jan 01 1970", "00:00:00 GMT+0000 (Coordinated Universal Time)", "Invalid Date", 62]
const d = new Date(0)
;[d.toString(), d.toUTCString(), d.toDateString(), d.toTimeString(), String(new Date(NaN)), `${d}`.length]
