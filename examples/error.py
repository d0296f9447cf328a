def average(prices):
    return sum(prices) / len(prices)


[average(basket) for basket in baskets]
