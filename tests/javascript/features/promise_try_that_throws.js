// gives: ["URIError", 5]
// since: 2025
[await Promise.try(() => { throw new URIError('u') }).catch((error) => error.name), await Promise.try(async () => 5)]
