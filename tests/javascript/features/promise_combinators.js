// gives: ["fast", "any", ["rejected", "fulfilled"], [1, 2]]
const wait = (ms, v) => new Promise((ok) => setTimeout(ok, ms, v))
const no = Promise.reject(new Error('no'))
no.catch(() => {})
return [await Promise.race([wait(20, 'slow'), wait(1, 'fast')]), await Promise.any([no, wait(1, 'any')]), (await Promise.allSettled([no, 1])).map((r) => r.status), await Promise.all([wait(1, 1), 2])]
