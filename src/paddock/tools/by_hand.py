"""Credentials, context and connection ids among the arguments of a call: the host adds those, a script must not.

An upstream that reads a field which its tool does not declare would take a script's word for whose data it is.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from paddock.tools.redaction import names_a_secret

_IDENTITIES = frozenset(
    {"connectionid", "pcid", "sessionid", "mcpsessionid", "identityid", "activeidentity", "activeprofile"}
)
_OWN = frozenset({"_meta", "headers"})
"""Of the protocol itself, and of the transport."""


def passed_by_hand(arguments: Mapping[str, Any], schema: Mapping[str, Any], added: Collection[str] = ()) -> list[str]:
    """The fields that only the host may add: those that it does add, and what looks like one.

    A tool that declares a field which looks like one itself takes what looks like one.
    """
    plain = {_plain(name) for name in added}
    certain = [name for name in arguments if plain and _plain(name) in plain]
    found = [name for name in arguments if name in certain or _is_the_hosts(name)]
    if not found:
        return []
    properties = schema.get("properties")
    declared = properties if isinstance(properties, Mapping) else {}
    return certain if any(_is_the_hosts(name) for name in declared) else found


def _is_the_hosts(name: str) -> bool:
    return name in _OWN or _plain(name) in _IDENTITIES or names_a_secret(name)


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name[-100:].lower())
