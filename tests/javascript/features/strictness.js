// gives: ["sloppy", "TypeError", "ReferenceError"]
const said = []
for (const f of [() => { undeclared = 1; return 'sloppy' }, () => { Object.freeze([1]).push(2) }, () => { 'use strict'; undeclared2 = 1 }]) try { said.push(f()) } catch (e) { said.push(e.name) }
return said
