// gives: [1.3369140625, 0.0999755859375, 4]
// since: 2025
[Math.f16round(1.337), new Float16Array([0.1])[0], new Float16Array(2).byteLength]
