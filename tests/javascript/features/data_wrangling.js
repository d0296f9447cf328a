// gives: [{"name": "desk", "total": 120}, {"name": "lamp", "total": 75}]
const rows = 'id,name,price\n1,lamp,40\n2,desk,120\n3,lamp,35'.split('\n').map((l) => l.split(','))
const [head, ...body] = rows
const objects = body.map((r) => Object.fromEntries(r.map((v, i) => [head[i], isNaN(v) ? v : +v])))
const by = Object.groupBy(objects, ({ name }) => name)
return Object.entries(by).map(([name, list]) => ({ name, total: list.reduce((s, { price }) => s + price, 0) })).toSorted((a, b) => b.total - a.total)
