"""The statements about artifacts and the objects that hold their bytes. Each runs in a transaction of the caller.

An object is entered before its bytes are written and forgotten after they are deleted, so that none is lost whenever
the process dies. In between it belongs to one artifact, or waits to be deleted.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, and_, delete, func, insert, or_, select, update

from paddock.errors import BadArtifact, StoreError
from paddock.store.objects import Part
from paddock.store.tables import artifact_objects as objects
from paddock.store.tables import artifacts

if TYPE_CHECKING:
    from sqlalchemy import Connection, Row

    from paddock.model.artifacts import Owner
    from paddock.store.artifacts import Filters, Quota

UPLOAD_SECONDS = 86_400.0
"""An object that belongs to no artifact after this long was left by a crash."""
READERS_SECONDS = 3600.0
"""How long a reader of replaced bytes has to finish."""
FAILED_SECONDS = 60.0
BATCH = 500


def find_id(connection: Connection, owner: Owner, name: str, now: float) -> Row[Any] | None:
    return connection.execute(select(artifacts).where(_visible(owner, now), artifacts.c.id == name)).first()


def find_name(
    connection: Connection, owner: Owner, filename: str, now: float, *, in_session_only: bool
) -> Row[Any] | None:
    """Find the newest of that name of the session, else of the principal."""
    newest = (
        select(artifacts)
        .where(_visible(owner, now), artifacts.c.filename == filename)
        .order_by(artifacts.c.created_at.desc(), artifacts.c.id.desc())
        .limit(1)
    )
    own = connection.execute(newest.where(artifacts.c.session.is_not_distinct_from(owner.session))).first()
    return own if own is not None or in_session_only else connection.execute(newest).first()


def parts(connection: Connection, name: str) -> tuple[Part, ...]:
    """Return the objects of an artifact, in order."""
    of_it = select(objects).where(objects.c.artifact_id == name).order_by(objects.c.number)
    return tuple(Part(row.object_key, row.size) for row in connection.execute(of_it))


def listed(
    connection: Connection, owner: Owner, filters: Filters, before: tuple[float, str] | None, limit: int, now: float
) -> Sequence[Row[Any]]:
    """Return artifacts older than `before`, newest first."""
    wanted = [_visible(owner, now)]
    if filters.session_only:
        wanted.append(artifacts.c.session.is_not_distinct_from(owner.session))
    for column, pattern in ((artifacts.c.filename, filters.filename), (artifacts.c.mime_type, filters.mime_type)):
        if pattern:
            wanted.append(column.ilike(_like(pattern), escape="\\"))
    if before is not None:
        created_at, name = before
        same_moment = and_(artifacts.c.created_at == created_at, artifacts.c.id < name)
        wanted.append(or_(artifacts.c.created_at < created_at, same_moment))
    newest = (artifacts.c.created_at.desc(), artifacts.c.id.desc())
    return connection.execute(select(artifacts).where(*wanted).order_by(*newest).limit(limit)).all()


def bytes_left(connection: Connection, owner: Owner, quota: Quota, now: float) -> int | None:
    """Return how much more the principal may keep; None if there is no limit."""
    _, used = _used(connection, owner, now)
    return quota.principal_bytes - used if quota.principal_bytes else None


def enter(connection: Connection, key: str, now: float) -> None:
    """Record an object before it is written."""
    values = {"object_key": key, "number": 0, "size": 0, "delete_after": now + UPLOAD_SECONDS, "is_doomed": False}
    connection.execute(insert(objects).values(values))


def give_up(connection: Connection, key: str, now: float) -> None:
    """Have an object deleted soon that no artifact got. What writes it may not have ended yet."""
    ended = update(objects).where(objects.c.object_key == key, objects.c.artifact_id.is_(None))
    connection.execute(ended.values(delete_after=now + FAILED_SECONDS))


def add(connection: Connection, owner: Owner, values: dict[str, Any], key: str, quota: Quota) -> None:
    """Create an artifact with the bytes of an object."""
    now = values["created_at"]
    _check_room(connection, owner, quota, values["size"], more_bytes=values["size"], more=1, now=now)
    connection.execute(insert(artifacts).values(principal=owner.principal, session=owner.session, **values))
    _take(connection, key, values["id"], 0, values["size"])


def replace(
    connection: Connection, owner: Owner, name: str, values: dict[str, Any], key: str, quota: Quota
) -> Row[Any]:
    """Give an artifact another object in place of those it has."""
    now = values["created_at"]
    row = _still_there(connection, owner, name, now)
    _check_room(connection, owner, quota, values["size"], more_bytes=values["size"] - row.size, more=0, now=now)
    _drop(connection, [name], now)
    _take(connection, key, name, 0, values["size"])
    connection.execute(update(artifacts).where(artifacts.c.id == name).values(values))
    return _still_there(connection, owner, name, now)


def append(
    connection: Connection,
    owner: Owner,
    name: str,
    part: Part,
    merged: Sequence[Part],
    quota: Quota,
    now: float,
    expires_at: float | None,
) -> Row[Any] | None:
    """Put a part at the end of an artifact, in place of the parts `merged` into it.

    Returns None, and changes nothing, if these are not the last parts any more.
    """
    row = _still_there(connection, owner, name, now)
    present = parts(connection, name)
    if merged and present[-len(merged) :] != tuple(merged):
        return None
    added = part.size - sum(each.size for each in merged)
    _check_room(connection, owner, quota, row.size + added, more_bytes=added, more=0, now=now)
    _drop(connection, [name], now, keys=[each.key for each in merged])
    number = connection.scalar(select(func.max(objects.c.number)).where(objects.c.artifact_id == name))
    _take(connection, part.key, name, 0 if number is None else number + 1, part.size)
    values = {"size": row.size + added, "expires_at": expires_at}
    connection.execute(update(artifacts).where(artifacts.c.id == name).values(values))
    return _still_there(connection, owner, name, now)


def remove(connection: Connection, names: Collection[str], now: float) -> None:
    """Remove artifacts; their bytes are deleted later."""
    _drop(connection, names, now)
    connection.execute(delete(artifacts).where(artifacts.c.id.in_(names)))


def remove_own(connection: Connection, owner: Owner, name: str, now: float) -> None:
    remove(connection, [_still_there(connection, owner, name, now).id], now)


def remove_expired(connection: Connection, now: float) -> int:
    """Remove some expired artifacts. Returns how many."""
    expired = select(artifacts.c.id).where(artifacts.c.expires_at <= now).limit(BATCH)
    names = connection.scalars(expired).all()
    remove(connection, names, now)
    return len(names)


def doom(connection: Connection, now: float) -> Sequence[str]:
    """Choose some objects to delete. No artifact can take them from now on, however slow the upload is."""
    due = select(objects.c.object_key).where(objects.c.delete_after <= now).limit(BATCH)
    keys = connection.scalars(due).all()
    connection.execute(update(objects).where(objects.c.object_key.in_(keys)).values(is_doomed=True))
    return keys


def forget(connection: Connection, keys: Collection[str]) -> None:
    """Remove the records of deleted objects."""
    connection.execute(delete(objects).where(objects.c.object_key.in_(keys), objects.c.is_doomed))


def _visible(owner: Owner, now: float) -> ColumnElement[bool]:
    lives = or_(artifacts.c.expires_at.is_(None), artifacts.c.expires_at > now)
    return and_(artifacts.c.principal == owner.principal, lives)


def _still_there(connection: Connection, owner: Owner, name: str, now: float) -> Row[Any]:
    row = find_id(connection, owner, name, now)
    if row is None:
        raise BadArtifact(f"there is no artifact {name!r} any more")
    return row


def _used(connection: Connection, owner: Owner, now: float) -> tuple[int, int]:
    counted = select(func.count(), func.coalesce(func.sum(artifacts.c.size), 0)).where(_visible(owner, now))
    count, size = connection.execute(counted).one()
    return count, int(size)


def _check_room(
    connection: Connection, owner: Owner, quota: Quota, size: int, *, more_bytes: int, more: int, now: float
) -> None:
    quota.check_size(size)
    count, used = _used(connection, owner, now)
    if more and quota.principal_count and count + more > quota.principal_count:
        raise BadArtifact(f"you keep {count} artifacts, and may keep {quota.principal_count}; remove some")
    if more_bytes > 0 and quota.principal_bytes and used + more_bytes > quota.principal_bytes:
        raise BadArtifact(
            f"you keep {used} bytes of artifacts, and may keep {quota.principal_bytes}: {more_bytes} more do not fit; "
            "remove some"
        )


def _take(connection: Connection, key: str, name: str, number: int, size: int) -> None:
    free = (objects.c.object_key == key, objects.c.artifact_id.is_(None), ~objects.c.is_doomed)
    values = {"artifact_id": name, "number": number, "size": size, "delete_after": None}
    if connection.execute(update(objects).where(*free).values(values)).rowcount != 1:
        raise StoreError("it took longer than a day to write the artifact, and its bytes were given up")


def _drop(connection: Connection, names: Collection[str], now: float, keys: Collection[str] | None = None) -> None:
    """Take objects from their artifacts: all of them, or those with `keys`."""
    theirs = update(objects).where(objects.c.artifact_id.in_(names))
    if keys is not None:
        theirs = theirs.where(objects.c.object_key.in_(keys))
    connection.execute(theirs.values(artifact_id=None, delete_after=now + READERS_SECONDS))


def _like(pattern: str) -> str:
    for plain in ("\\", "%", "_"):
        pattern = pattern.replace(plain, f"\\{plain}")
    while "**" in pattern:
        pattern = pattern.replace("**", "*")
    return pattern.replace("*", "%").replace("?", "_")
