"""SQL statements about artifacts and the objects that hold their bytes. Each runs in the caller's transaction.

An object has a record from before its bytes are written until after they are deleted, so a crash never leaves an
unrecorded object. Meanwhile the object belongs to one artifact, or is due for deletion.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, and_, delete, func, insert, or_, select, update

from paddock.errors import BadArtifact, StoreError
from paddock.model.limits import format_bytes
from paddock.store.objects import Part
from paddock.store.tables import artifact_objects as objects
from paddock.store.tables import artifacts

if TYPE_CHECKING:
    from sqlalchemy import Connection, Row

    from paddock.model.artifacts import Owner
    from paddock.store.artifacts import StoredArtifacts

DAY_SECONDS = 86_400.0
UPLOAD_SECONDS = DAY_SECONDS
"""An object that still belongs to no artifact after this time was left by a crash."""
READERS_SECONDS = 3600.0
"""How long readers of replaced or removed bytes have to finish."""
HURRIED_SECONDS = 60.0
"""How long they have while much waits to be deleted, so that nobody can fill the disk with what counts for nobody."""
FAILED_SECONDS = 60.0
"""How long the object of a failed write is kept."""
FILE_BYTES = 4096
"""What the smallest object takes on a disk, added to the size of each."""
BATCH = 500


def principal_of(connection: Connection, artifact_id: str) -> str | None:
    """The principal that an artifact belongs to."""
    found: str | None = connection.execute(
        select(artifacts.c.principal).where(artifacts.c.id == artifact_id)
    ).scalar_one_or_none()
    return found


@dataclass(frozen=True, slots=True)
class Records:
    """The artifacts that one owner sees at one moment, in one transaction."""

    connection: Connection
    stored: StoredArtifacts
    owner: Owner
    run_id: str | None
    now: float

    def find_id(self, artifact_id: str) -> Row[Any] | None:
        query = select(artifacts).where(self._is_visible, artifacts.c.id == artifact_id)
        return self.connection.execute(query).first()

    def find_name(self, filename: str, *, in_session_only: bool) -> Row[Any] | None:
        """Find the newest artifact of that name in the session, else of the principal."""
        query = select(artifacts).where(self._is_visible, artifacts.c.filename == filename).order_by(*_NEWEST).limit(1)
        in_session = self.connection.execute(query.where(self._is_of_session)).first()
        return in_session if in_session is not None or in_session_only else self.connection.execute(query).first()

    def parts(self, artifact_id: str) -> tuple[Part, ...]:
        """Return the objects of an artifact, in order."""
        query = select(objects).where(objects.c.artifact_id == artifact_id).order_by(objects.c.number)
        return tuple(Part(row.object_key, row.size) for row in self.connection.execute(query))

    def list(
        self, patterns: Mapping[str, str], before: tuple[float, str] | None, limit: int, *, in_session_only: bool
    ) -> Sequence[Row[Any]]:
        """Return artifacts older than `before`, newest first. `patterns` are for columns."""
        query = select(artifacts).where(self._is_visible).order_by(*_NEWEST).limit(limit)
        if in_session_only:
            query = query.where(self._is_of_session)
        for name, pattern in patterns.items():
            if pattern:
                query = query.where(artifacts.c[name].ilike(_like(pattern), escape="\\"))
        if before is not None:
            created_at, artifact_id = before
            is_same_time = and_(artifacts.c.created_at == created_at, artifacts.c.id < artifact_id)
            query = query.where(or_(artifacts.c.created_at < created_at, is_same_time))
        return self.connection.execute(query).all()

    def bytes_left(self, present: int) -> int | None:
        """Return how many bytes may be added to an artifact with `present` bytes; None if there is no limit."""
        settings, left = self.stored.settings, []
        if settings.artifact_bytes:
            left.append(settings.artifact_bytes - present)
        if settings.principal_bytes:
            left.append(settings.principal_bytes - self._used()[1])
        return min(left, default=None)

    def add(self, artifact_id: str, filename: str, mime_type: str, part: Part) -> Row[Any]:
        """Create an artifact with the bytes of `part`."""
        self._check_quota(part.size, more_bytes=part.size, more=1)
        values = {"id": artifact_id, "filename": filename, **self._values(mime_type, part)}
        owner = {"principal": self.owner.principal, "session": self.owner.session}
        self.connection.execute(insert(artifacts).values(**owner, **values))
        self._attach(part, artifact_id, 0)
        return self._get(artifact_id)

    def replace(self, artifact_id: str, mime_type: str, part: Part) -> Row[Any]:
        """Replace all objects of an artifact with `part`."""
        self._check_quota(part.size, more_bytes=part.size - self._get(artifact_id).size, more=0)
        _detach(self.connection, [artifact_id], self.now)
        self._attach(part, artifact_id, 0)
        return self._update(artifact_id, self._values(mime_type, part))

    def append(self, artifact_id: str, part: Part, merged: Sequence[Part]) -> Row[Any] | None:
        """Append a part to an artifact. It replaces the last parts, `merged`, whose bytes it contains.

        Returns None, and changes nothing, if these are no longer the last parts.
        """
        row = self._get(artifact_id)
        if merged and self.parts(artifact_id)[-len(merged) :] != tuple(merged):
            return None
        added_bytes = part.size - sum(each.size for each in merged)
        self._check_quota(row.size + added_bytes, more_bytes=added_bytes, more=0)
        _detach(self.connection, [artifact_id], self.now, keys=[each.key for each in merged])
        last = self.connection.scalar(select(func.max(objects.c.number)).where(objects.c.artifact_id == artifact_id))
        self._attach(part, artifact_id, 0 if last is None else last + 1)
        return self._update(artifact_id, {"size": row.size + added_bytes, "expires_at": self._expires_at})

    def remove(self, artifact_id: str) -> None:
        _remove(self.connection, [self._get(artifact_id).id], self.now)

    @property
    def _is_visible(self) -> ColumnElement[bool]:
        is_live = or_(artifacts.c.expires_at.is_(None), artifacts.c.expires_at > self.now)
        return and_(artifacts.c.principal == self.owner.principal, is_live)

    @property
    def _is_of_session(self) -> ColumnElement[bool]:
        return artifacts.c.session.is_not_distinct_from(self.owner.session)

    @property
    def _expires_at(self) -> float | None:
        days = self.stored.settings.days
        return self.now + days * DAY_SECONDS if days else None

    def _values(self, mime_type: str, part: Part) -> dict[str, Any]:
        """Return the columns that change with the bytes."""
        times = {"created_at": self.now, "expires_at": self._expires_at}
        return {"run_id": self.run_id, "mime_type": mime_type, "size": part.size, **times}

    def _get(self, artifact_id: str) -> Row[Any]:
        row = self.find_id(artifact_id)
        if row is None:
            raise BadArtifact(f"there is no artifact {artifact_id!r}; it may have been removed")
        return row

    def _update(self, artifact_id: str, values: dict[str, Any]) -> Row[Any]:
        self.connection.execute(update(artifacts).where(artifacts.c.id == artifact_id).values(values))
        return self._get(artifact_id)

    def _used(self) -> tuple[int, int]:
        """Return how many artifacts the principal has, and how many bytes."""
        query = select(func.count(), func.coalesce(func.sum(artifacts.c.size), 0)).where(self._is_visible)
        count, size = self.connection.execute(query).one()
        return count, int(size)

    def _check_quota(self, size: int, *, more_bytes: int, more: int) -> None:
        self.stored.check_size(size)
        count, used = self._used()
        max_count, max_bytes = self.stored.settings.principal_count, self.stored.settings.principal_bytes
        if more and max_count and count + more > max_count:
            raise BadArtifact(f"you have {count} artifacts, and the limit is {max_count}; remove some")
        if more_bytes > 0 and max_bytes and used + more_bytes > max_bytes:
            raise BadArtifact(
                f"you have {format_bytes(used)} of artifacts, and the limit is {format_bytes(max_bytes)}: "
                f"{format_bytes(more_bytes)} more do not fit; remove some"
            )

    def _attach(self, part: Part, artifact_id: str, number: int) -> None:
        """Assign an object to an artifact."""
        is_free = (objects.c.object_key == part.key, objects.c.artifact_id.is_(None), ~objects.c.is_doomed)
        values = {"artifact_id": artifact_id, "number": number, "size": part.size, "delete_after": None}
        if self.connection.execute(update(objects).where(*is_free).values(values)).rowcount != 1:
            raise StoreError("writing the artifact took longer than a day, and its bytes were deleted; write it again")


def add_object(connection: Connection, key: str, now: float) -> None:
    """Record an object before it is written."""
    values = {"object_key": key, "number": 0, "size": 0, "delete_after": now + UPLOAD_SECONDS, "is_doomed": False}
    connection.execute(insert(objects).values(values))


def delete_soon(connection: Connection, key: str, now: float) -> None:
    """Schedule the deletion of an object that belongs to no artifact. Its writer may still be running."""
    is_free = (objects.c.object_key == key, objects.c.artifact_id.is_(None))
    connection.execute(update(objects).where(*is_free).values(delete_after=now + FAILED_SECONDS))


def remove_expired(connection: Connection, now: float) -> int:
    """Remove some expired artifacts. Returns how many."""
    ids = connection.scalars(select(artifacts.c.id).where(artifacts.c.expires_at <= now).limit(BATCH)).all()
    _remove(connection, ids, now)
    return len(ids)


def remove_of(connection: Connection, principal: str, now: float) -> int:
    """Remove some artifacts of a principal, whose bytes need not wait for readers. Returns how many."""
    ids = connection.scalars(select(artifacts.c.id).where(artifacts.c.principal == principal).limit(BATCH)).all()
    _remove(connection, ids, now - READERS_SECONDS)
    return len(ids)


def waiting_bytes(connection: Connection) -> int:
    """Return how much the objects take that artifacts no longer use."""
    is_waiting = (objects.c.artifact_id.is_(None), _WAS_USED)
    query = select(func.coalesce(func.sum(objects.c.size + FILE_BYTES), 0)).where(*is_waiting)
    return int(connection.scalar(query) or 0)


def mark_doomed(connection: Connection, now: float, *, is_hurried: bool = False) -> Sequence[str]:
    """Choose some objects to delete and return their keys. From now on no artifact can use them.

    `is_hurried`: readers of replaced or removed bytes had only `HURRIED_SECONDS`.
    """
    is_due = objects.c.delete_after <= now
    if is_hurried:
        is_due |= and_(_WAS_USED, objects.c.delete_after <= now + READERS_SECONDS - HURRIED_SECONDS)
    keys = connection.scalars(select(objects.c.object_key).where(is_due).limit(BATCH)).all()
    connection.execute(update(objects).where(objects.c.object_key.in_(keys)).values(is_doomed=True))
    return keys


def forget_objects(connection: Connection, keys: Collection[str]) -> None:
    """Remove the records of deleted objects."""
    connection.execute(delete(objects).where(objects.c.object_key.in_(keys), objects.c.is_doomed))


def _remove(connection: Connection, ids: Collection[str], now: float) -> None:
    """Remove artifacts; their bytes are deleted later."""
    _detach(connection, ids, now)
    connection.execute(delete(artifacts).where(artifacts.c.id.in_(ids)))


def _detach(connection: Connection, ids: Collection[str], now: float, keys: Collection[str] | None = None) -> None:
    """Detach objects from their artifacts: all of them, or those with `keys`."""
    statement = update(objects).where(objects.c.artifact_id.in_(ids))
    if keys is not None:
        statement = statement.where(objects.c.object_key.in_(keys))
    connection.execute(statement.values(artifact_id=None, delete_after=now + READERS_SECONDS))


def _like(pattern: str) -> str:
    for plain in ("\\", "%", "_"):
        pattern = pattern.replace(plain, f"\\{plain}")
    while "**" in pattern:
        pattern = pattern.replace("**", "*")
    return pattern.replace("*", "%").replace("?", "_")


_WAS_USED = objects.c.size > 0
"""The size is recorded when an artifact first uses the object, so uploads in progress have none."""
_NEWEST = (artifacts.c.created_at.desc(), artifacts.c.id.desc())
