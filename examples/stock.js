const { orders: paid } = await orders({ status: 'paid' });
const skus = [...new Set(paid.flatMap((order) => order.lines.map((line) => line.sku)))].sort();
const products = await Promise.all(skus.map((sku) => inventory({ sku })));

console.log('looked at', products.length, 'products');
try {
  await callTool('shop', 'inventory', { skew: 'LAMP-1' });
} catch (error) {
  console.warn(error.envelope.error_code, error.envelope.hints);
}
Object.fromEntries(products.map(({ sku, levels }) => {
  const free = levels.reduce((sum, level) => sum + level.on_hand - level.reserved, 0);
  return [sku, free];
}))
