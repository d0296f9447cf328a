const { orders } = await callTool('/shop', 'orders', { limit: 100 });
const rows = orders.map((order) => [order.id, order.customer_id, order.status, order.placed_on]);
const made = await codeExec.createArtifact('orders.csv', rows.map((row) => row.join()).join('\n'), 'csv');
console.log('kept', rows.length, 'orders as', made.filename);
return orders;
