"""A small shop as an MCP server over stdio: `python shop_server.py`.

Its data is the same at every start; a refund lasts until it ends. A tool that fails answers with an error envelope,
which reaches a script as it is. The carrier behind `shipping_quote` is down at every other call, the first included.
"""

from __future__ import annotations

import json
from datetime import date
from itertools import count
from typing import Annotated, Any, Literal

from mcp.server import MCPServer
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import BaseModel, Field

Status = Literal["open", "paid", "shipped", "refunded"]
Warehouse = Literal["north", "south"]
Speed = Literal["standard", "express"]
Reason = Literal["damaged", "late", "wrong_item", "changed_mind"]
CustomerId = Annotated[str, Field(description="Such as C-2", pattern=r"^C-\d+$")]
Sku = Annotated[str, Field(description="Stock number, such as LAMP-1", pattern=r"^[A-Z]+-\d+$")]


class Address(BaseModel):
    """Where something is sent."""

    street: str
    city: str
    country: str = Field(description="Two letters, ISO 3166", pattern="^[A-Z]{2}$")
    postal_code: str | None = None


class Customer(BaseModel):
    """Who buys."""

    id: CustomerId
    name: str
    email: str
    tier: Literal["basic", "plus", "gold"]
    address: Address


class Line(BaseModel):
    """So many pieces of one product, at the price on the day of the order."""

    sku: Sku
    quantity: int = Field(ge=1)
    unit_price: float = Field(description="In euros", ge=0)


class Order(BaseModel):
    """What was bought at once."""

    id: int
    customer_id: CustomerId
    status: Status
    placed_on: date
    lines: list[Line]
    ship_to: Address | None = Field(default=None, description="Where this differs from the customer's own address")


class OrderPage(BaseModel):
    """Some orders, newest first, and how many match in all."""

    orders: list[Order]
    matching: int


class Level(BaseModel):
    """What one warehouse has of a product."""

    warehouse: Warehouse
    on_hand: int
    reserved: int = Field(description="Of those on hand, promised to orders that are paid")


class Stock(BaseModel):
    """What there is of a product."""

    sku: Sku
    name: str
    weight_kg: float
    levels: list[Level]
    restocked_on: date | None = Field(default=None, description="The next delivery, where one is planned")


class Refund(BaseModel):
    """Money that was given back."""

    order_id: int
    amount: float = Field(description="In euros")
    reason: Reason
    remaining: float = Field(description="What could still be refunded of this order")


class Parcel(BaseModel):
    """One parcel."""

    weight_kg: float = Field(gt=0, le=30)
    is_fragile: bool = False


class Quote(BaseModel):
    """What sending costs."""

    price: float = Field(description="In euros")
    days: int
    speed: Speed


def _lines(*lines: tuple[str, int, float]) -> list[Line]:
    return [Line(sku=sku, quantity=quantity, unit_price=price) for sku, quantity, price in lines]


def _levels(*levels: tuple[Warehouse, int, int]) -> list[Level]:
    return [Level(warehouse=place, on_hand=on_hand, reserved=reserved) for place, on_hand, reserved in levels]


OSLO = Address(street="Storgata 1", city="Oslo", country="NO", postal_code="0155")
ROME = Address(street="Via Appia 7", city="Rome", country="IT", postal_code="00179")
MADRID = Address(street="Calle Mayor 3", city="Madrid", country="ES")
BILBAO = Address(street="Gran Via 20", city="Bilbao", country="ES", postal_code="48001")
GHENT = Address(street="Veldstraat 12", city="Ghent", country="BE", postal_code="9000")
CUSTOMERS = {
    "C-1": Customer(id="C-1", name="Ada Berg", email="ada@example.com", tier="gold", address=OSLO),
    "C-2": Customer(id="C-2", name="Bruno Conti", email="bruno@example.com", tier="basic", address=ROME),
    "C-3": Customer(id="C-3", name="Carla Diaz", email="carla@example.com", tier="plus", address=MADRID),
    "C-4": Customer(id="C-4", name="Dirk Evers", email="dirk@example.com", tier="basic", address=GHENT),
}
_PLACED: tuple[tuple[int, str, Status, date, list[Line], Address | None], ...] = (
    (101, "C-1", "shipped", date(2026, 1, 5), _lines(("LAMP-1", 2, 40.0)), None),
    (102, "C-2", "shipped", date(2026, 1, 19), _lines(("DESK-1", 1, 210.0)), None),
    (103, "C-1", "paid", date(2026, 2, 2), _lines(("CHAIR-1", 4, 65.5), ("LAMP-1", 1, 40.0)), None),
    (104, "C-3", "paid", date(2026, 2, 11), _lines(("LAMP-1", 3, 40.0)), BILBAO),
    (105, "C-2", "open", date(2026, 2, 20), _lines(("DESK-1", 1, 210.0), ("LAMP-2", 2, 59.9)), None),
    (106, "C-4", "paid", date(2026, 2, 21), _lines(("DESK-1", 2, 199.0)), None),
    (107, "C-3", "refunded", date(2026, 2, 23), _lines(("CHAIR-1", 1, 65.5)), None),
)
ORDERS = {
    number: Order(id=number, customer_id=customer, status=status, placed_on=placed, lines=lines, ship_to=ship_to)
    for number, customer, status, placed, lines, ship_to in _PLACED
}
STOCK = {
    "LAMP-1": Stock(sku="LAMP-1", name="Desk lamp", weight_kg=1.5, levels=_levels(("north", 7, 1), ("south", 2, 0))),
    "LAMP-2": Stock(sku="LAMP-2", name="Floor lamp", weight_kg=4.0, levels=_levels(("south", 3, 3))),
    "CHAIR-1": Stock(sku="CHAIR-1", name="Chair", weight_kg=5.5, levels=_levels(("north", 4, 0), ("south", 1, 1))),
    "DESK-1": Stock(
        sku="DESK-1", name="Desk", weight_kg=24.0, levels=_levels(("north", 1, 0)), restocked_on=date(2026, 3, 9)
    ),
}
RATES = {"NO": 14.0, "IT": 9.0, "ES": 9.5, "BE": 7.0}
REFUNDED = {107: 65.5}

READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
server = MCPServer("shop", version="1.0.0", instructions="Orders, customers and stock of a small shop.")
calls_of_the_carrier = count(1)


@server.tool(title="Find orders", annotations=READS)
def orders(
    status: Annotated[Status | None, Field(description="Only orders in this state")] = None,
    customer_id: Annotated[CustomerId | None, Field(description="Only orders of this customer")] = None,
    placed_from: Annotated[date | None, Field(description="Only orders of this day or later")] = None,
    limit: Annotated[int, Field(description="How many at most", ge=1, le=100)] = 20,
) -> OrderPage:
    """Find orders of the shop, newest first. Without a filter: all of them."""
    found = [
        order
        for order in sorted(ORDERS.values(), key=lambda order: order.placed_on, reverse=True)
        if status in (None, order.status)
        and customer_id in (None, order.customer_id)
        and (placed_from is None or order.placed_on >= placed_from)
    ]
    return OrderPage(orders=found[:limit], matching=len(found))


@server.tool(title="Look up a customer", annotations=READS)
def customer(customer_id: CustomerId) -> Annotated[CallToolResult, Customer]:
    """Look up who a customer is: name, tier, address."""
    if customer_id not in CUSTOMERS:
        return failed("customer", "precondition_failed", "UNKNOWN_CUSTOMER", f"There is no customer {customer_id}.")
    return given(CUSTOMERS[customer_id])


@server.tool(title="Look up stock", annotations=READS)
def inventory(
    sku: Sku,
    warehouse: Annotated[Warehouse | None, Field(description="Only what this one has")] = None,
) -> Annotated[CallToolResult, Stock]:
    """Look up what there is of a product, in each warehouse that has it."""
    if sku not in STOCK:
        known = f"Known are {', '.join(STOCK)}."
        return failed("inventory", "precondition_failed", "UNKNOWN_SKU", f"There is no product {sku}.", hints=[known])
    stock = STOCK[sku]
    levels = [level for level in stock.levels if warehouse in (None, level.warehouse)]
    return given(stock.model_copy(update={"levels": levels}))


@server.tool(
    title="Refund an order",
    annotations=ToolAnnotations(
        read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=False
    ),
)
def refund(
    order_id: Annotated[int, Field(description="The order's number")],
    reason: Reason,
    amount: Annotated[float | None, Field(description="In euros; all that is left where not given", gt=0)] = None,
) -> Annotated[CallToolResult, Refund]:
    """Give back what was paid for an order, in whole or in part. This cannot be undone."""
    order = ORDERS.get(order_id)
    if order is None or order.status == "open":
        summary = f"Order {order_id} is not there, or was never paid."
        return failed("refund", "precondition_failed", "NOTHING_TO_REFUND", summary)
    left = sum(line.quantity * line.unit_price for line in order.lines) - REFUNDED.get(order_id, 0.0)
    wanted = left if amount is None else amount
    if not 0 < wanted <= left:
        summary = f"Order {order_id} has {left:.2f} euros left to refund."
        return failed("refund", "precondition_failed", "NOTHING_TO_REFUND", summary)
    REFUNDED[order_id] = REFUNDED.get(order_id, 0.0) + wanted
    if wanted == left:
        order.status = "refunded"
    return given(Refund(order_id=order_id, amount=wanted, reason=reason, remaining=round(left - wanted, 2)))


@server.tool(
    title="Ask the carrier for a price",
    annotations=ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=True),
)
def shipping_quote(
    destination: Address,
    parcels: Annotated[list[Parcel], Field(min_length=1, max_length=10)],
    speed: Speed = "standard",
) -> Annotated[CallToolResult, Quote]:
    """Ask the carrier what sending parcels costs. The carrier is often busy; asking again helps."""
    if next(calls_of_the_carrier) % 2:
        hints = ["Ask again: the same call usually succeeds."]
        summary = "The carrier answered 503."
        return failed("shipping_quote", "upstream_http", "CARRIER_UNAVAILABLE", summary, hints=hints, retryable=True)
    weight = sum(parcel.weight_kg for parcel in parcels)
    price = RATES.get(destination.country, 25.0) + 0.8 * weight + 3.0 * sum(parcel.is_fragile for parcel in parcels)
    is_express = speed == "express"
    return given(Quote(price=round(price * (2 if is_express else 1), 2), days=1 if is_express else 4, speed=speed))


def given(model: BaseModel) -> CallToolResult:
    """An answer that fits the tool's output schema."""
    value = model.model_dump(mode="json")
    return CallToolResult(content=[TextContent(type="text", text=json.dumps(value))], structured_content=value)


def failed(
    tool: str, kind: str, code: str, summary: str, *, hints: list[str] | None = None, retryable: bool = False
) -> CallToolResult:
    """A failure as an error envelope, version 1."""
    envelope: dict[str, Any] = {
        "error_kind": kind,
        "tool": f"shop.{tool}",
        "summary": summary,
        "details": [],
        "hints": hints or [],
        "examples": [],
        "error_code": code,
        "retryable": retryable,
        "_envelope_version": 1,
    }
    return CallToolResult(content=[TextContent(type="text", text=json.dumps(envelope))], is_error=True)


if __name__ == "__main__":
    server.run()
