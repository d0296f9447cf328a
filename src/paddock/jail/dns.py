"""The messages of DNS, as far as a guest's name server needs them: one question in, addresses out.

A query is a guest's bytes. Whatever is not a plain question about one name gets no answer.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

from paddock.model.network import Address

MESSAGE_BYTES = 512
A, AAAA = 1, 28
NO_ERROR, FAILED, NO_NAME = 0, 2, 3
MAX_ADDRESSES = 8
"""Addresses of each kind in one answer. So it fits in MESSAGE_BYTES, and no resolver has to ask again over TCP."""
_HEADER = struct.Struct("!6H")  # id, flags, then the number of questions, answers, authorities, additions
_QUESTION = struct.Struct("!2H")  # type, class
_RECORD = struct.Struct("!HHHIH")  # name, type, class, seconds to live, length
_RESPONSE, _WANTS_RECURSION, _HAS_RECURSION, _OPCODE_AND_TRUNCATED = 0x8000, 0x0100, 0x0080, 0x7A00
_INTERNET = 1
_NAME_OF_THE_QUESTION = 0xC000 | _HEADER.size


@dataclass(frozen=True, slots=True)
class Query:
    """A question about one name. `name` is as it was sent, without the final dot."""

    id: int
    flags: int
    question: bytes  # repeated in the answer
    name: str
    type: int


def parse_query(data: bytes) -> Query | None:
    """Parse a query; None if it is not a plain question."""
    if not _HEADER.size < len(data) <= MESSAGE_BYTES:
        return None
    number, flags, questions, answers, authorities, _ = _HEADER.unpack_from(data)
    if flags & (_RESPONSE | _OPCODE_AND_TRUNCATED) or questions != 1 or answers or authorities:
        return None
    labels, at = [], _HEADER.size
    while at < len(data) and data[at]:
        length = data[at]
        if length > 63 or at + 1 + length >= len(data):  # compressed, or incomplete
            return None
        labels.append(data[at + 1 : at + 1 + length])
        at += 1 + length
    end = at + 1 + _QUESTION.size
    if len(data) < end or not labels or at - _HEADER.size > 254 or any(b"." in label for label in labels):
        return None
    kind, network = _QUESTION.unpack_from(data, at + 1)
    name = b".".join(labels)
    if network != _INTERNET or not name.isascii():
        return None
    return Query(number, flags, data[_HEADER.size : end], name.decode(), kind)


def make_answer(query: Query, code: int, addresses: Iterable[Address] = ()) -> bytes:
    """The answer with those `addresses` that the query asks for."""
    kind = {A: IPv4Address, AAAA: IPv6Address}.get(query.type)
    found = [each.packed for each in addresses if kind is not None and isinstance(each, kind)][:MAX_ADDRESSES]
    flags = _RESPONSE | query.flags & _WANTS_RECURSION | _HAS_RECURSION | code
    records = [_RECORD.pack(_NAME_OF_THE_QUESTION, query.type, _INTERNET, 0, len(each)) + each for each in found]
    return _HEADER.pack(query.id, flags, 1, len(records), 0, 0) + query.question + b"".join(records)
