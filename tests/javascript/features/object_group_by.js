// gives: {"a": ["ant", "asp"], "b": ["bee"]}
Object.groupBy(['ant', 'bee', 'asp'], (w) => w[0])
