// gives: {"a": ["ant", "asp"], "b": ["bee"]}
// since: 2024
Object.groupBy(['ant', 'bee', 'asp'], (w) => w[0])
