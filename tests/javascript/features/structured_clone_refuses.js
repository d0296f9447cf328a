// gives: ["DataCloneError", true, 25]
try { structuredClone({ f() {} }) } catch (e) { return [e.name, e instanceof Error, e.code] }
