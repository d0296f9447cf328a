"""Trying a profile: a zygote is really started with it, and one guest really walled in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddock.errors import JailUnavailable
from paddock.jail import profiles
from paddock.jail.bounds import Unbounded
from paddock.jail.keeper import Keeper
from paddock.jail.profiles import Inside
from paddock.jail.walls import advice
from paddock.jail.walls.uids import FIRST

if TYPE_CHECKING:
    from paddock.config import Config


async def first_that_works(config: Config, python: str, inside: Inside, *, memfds: bool) -> Keeper:
    """A zygote of the first profile that works here. JailUnavailable has the reason of each that does not."""
    reasons = []
    for profile in profiles.wanted(config):
        try:
            return await tried(profile, config, python, inside, memfds=memfds)
        except JailUnavailable as problem:
            reasons.append(f"{profile}: {problem}")
    raise JailUnavailable("\n".join(["no profile of the jail works here.", *reasons]))


async def tried(profile: str, config: Config, python: str, inside: Inside, *, memfds: bool) -> Keeper:
    """A zygote of this profile, after one guest of it was walled in and ended again."""
    refusal = profiles.refusal(profile, config, inside.reads)
    if refusal is not None:
        raise JailUnavailable(refusal)
    try:
        keeper = await start(profile, config, python, inside, memfds=memfds)
        try:
            await (await keeper.guest(uid=FIRST, processes=False, bound=Unbounded())).end()
        except BaseException:
            await keeper.close()
            raise
    except JailUnavailable as problem:
        hints = advice.for_profile(profile)
        raise JailUnavailable(" ".join([f"{problem}.", *hints])) from None
    return keeper


async def start(profile: str, config: Config, python: str, inside: Inside, *, memfds: bool) -> Keeper:
    spec = profiles.spec(profile, config, inside, memfds=memfds)
    return await Keeper.start(python, spec, profiles.identities(profile, config))
