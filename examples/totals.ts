enum Size { Small = 'small', Large = 'large' }
interface Order { city: string; price: number; quantity: number }

function size({ price, quantity }: Order): Size {
  return price * quantity > 100 ? Size.Large : Size.Small;
}
const groups: Partial<Record<Size, Order[]>> = Object.groupBy(orders as Order[], size);
Object.entries(groups).map(([name, found]) => [name, found.map((order) => order.city)])
