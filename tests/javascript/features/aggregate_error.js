// gives: ["AggregateError", ["Error: a", "2"], true]
const e = await Promise.any([Promise.reject(new Error('a')), Promise.reject(2)]).catch((x) => x)
;[e.name, e.errors.map(String), e instanceof Error]
