// gives: [1.3369140625, 5.05078125, "Infinity", 0, "NaN"]
// since: 2025
[Math.f16round(1.337), Math.f16round(5.05), Math.f16round(1e5), Math.f16round(2 ** -25), Math.f16round(NaN)]
