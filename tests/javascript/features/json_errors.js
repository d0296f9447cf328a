// gives: ["SyntaxError", "SyntaxError", "SyntaxError", "SyntaxError", "SyntaxError", "TypeError", "TypeError"]
const said = []
for (const text of ['{', '[1,]', '{"a" 1}', 'nope', '']) try { JSON.parse(text) } catch (e) { said.push(e.name) }
const loop = {}; loop.loop = loop
try { JSON.stringify(loop) } catch (e) { said.push(e.name) }
try { JSON.stringify(1n) } catch (e) { said.push(e.name) }
return said
