"""Root directories for chroot(2): one tree of copies, made once, and for each guest a tree of hard links to it.

Where nothing can be mounted, two guests have separate `/tmp` folders only if they have separate roots. The first tree
has copies, not links to the host's files, so that `chown -R` on a data directory does not change the owner of
`/usr/bin`. Everything belongs to root, and nobody else can write to it, except to each guest's private folders.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import secrets
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from paddock.jail.walls.mounts import DEVICES, TEXTS

FORMAT = "8"
SLOTS = "slots"
PARTIAL = "partial"
WRITABLE = ("tmp", "files", "dev/shm")
PACKAGES = frozenset({"site-packages", "dist-packages"})
"""Names of folders with packages of an interpreter. Guests see those of their environment only."""
# Not copied from folders of the system: packages that are not part of the environment, and what no script needs.
LEFT_OUT = PACKAGES | {"test", "idlelib", "tkinter", "ensurepip", "perl", "perl-base", "right"}
NOT_LOADED = (".a", ".o", ".la", ".h")
FICLONE = 0x4004_9409
LOADERS = ("/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1")
LATER_NS = 4_000_000_000 * 10**9
"""An access time in the future. The kernel's default, `relatime`, leaves it as it is when the file is read."""
_DEVICE_NUMBERS = {"null": (1, 3), "zero": (1, 5), "full": (1, 7), "random": (1, 8), "urandom": (1, 9)}


def acquire(directory: str, reads: Iterable[str], complete: Iterable[str] = ()) -> tuple[Path, int]:
    """Return the root with these files of the host, and a descriptor that keeps others from removing the root.

    The first call builds it, in seconds. Folders in `complete` are copied completely, the others without LEFT_OUT and
    NOT_LOADED.
    """
    reads = sorted(reads)
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)  # guests reach its files only from inside a root
    root = folder / _key(reads)
    with _locked(folder / "lock") as lock:
        held = os.open(folder / f"{root.name}.used", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(held, fcntl.LOCK_SH)
        os.ftruncate(held, 0)
        os.pwrite(held, json.dumps(reads).encode(), 0)
        if not root.exists():
            with _unfinished(folder, lock) as partial:
                _sweep(folder)
                _build(partial, reads, tuple(complete))
                partial.rename(root)
    return root, held


def add(root: Path, path: str) -> None:
    """Copy one more folder of the host into a root, unless it is there already."""
    target = root / path.lstrip("/")
    with _locked(root.parent / "lock") as lock:
        if not target.exists():
            with _unfinished(root.parent, lock) as partial:
                _copy_tree(path, str(partial), _copy)
                _make_above(target)
                partial.rename(target)


@contextmanager
def _unfinished(folder: Path, lock: int) -> Iterator[Path]:
    """Where a part of a root is made. It goes if this process is killed meanwhile."""
    from paddock.jail.walls.cleanup import Cleanup  # rarely needed; without it, wardens take less memory

    partial = folder / PARTIAL
    # The cleanup process holds the lock too, so no other process builds there while it removes.
    with Cleanup(folders=[partial], locks=[lock]):
        shutil.rmtree(partial, ignore_errors=True)
        yield partial


def add_to_slot(directory: str, reads: Iterable[str], name: str, path: str) -> None:
    """Show one more folder of the host to the guest in a slot. Call this outside, while no process of the guest runs.

    All folders above it belong to root in the slot too, so nothing of the guest's is followed.
    """
    root = Path(directory) / _key(sorted(reads))
    add(root, path)
    _link(str(root / path.lstrip("/")), root / SLOTS / name / path.lstrip("/"))


def _link(source: str, target: Path) -> None:
    if not target.exists():
        _make_above(target)
        partial = target.with_name(PARTIAL)
        shutil.rmtree(partial, ignore_errors=True)
        _copy_tree(source, str(partial), os.link)
        partial.rename(target)  # atomic, because a set that is there is taken to be complete


def _make_above(target: Path) -> None:
    """Make the folders above a package set: its own, that of all sets, and the one above. No guest may list them."""
    target.parent.mkdir(parents=True, exist_ok=True)
    for folder in target.parents[:3]:
        folder.chmod(0o711)


def remove(directory: Path, path: str) -> None:
    """Remove from all roots what `add_to_slot` made of this folder."""
    for copied in (*directory.glob(f"*/{path.lstrip('/')}"), *directory.glob(f"*/{SLOTS}/*/{path.lstrip('/')}")):
        shutil.rmtree(copied, ignore_errors=True)


def make_slot(name: str, owner: int) -> None:
    """Create a guest's own tree, or renew what the last guest of an existing tree could change.

    The caller has entered the root.
    """
    tree = Path("/", SLOTS, name)
    if not tree.exists():
        partial = Path("/", SLOTS, f"{name}.partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(mode=0o755)
        for entry in os.scandir("/"):
            if entry.name not in (SLOTS, "dev"):
                _copy_tree(entry.path, f"{partial}/{entry.name}", os.link)
        _devices(partial / "dev", owner)
        partial.rename(tree)
    for private in (tree / folder for folder in WRITABLE):
        private.mkdir(mode=0o700, exist_ok=True)
        empty(str(private))  # leftovers of a guest whose reaper was killed
        if private.stat().st_size > tree.stat().st_size:  # ext4 makes no folder smaller
            private.rmdir()
            private.mkdir(mode=0o700)
        os.chown(private, owner, owner)
        os.utime(private)
    _renew_null(tree / "dev" / "null", owner)
    for path in (tree, tree / "dev", *(tree / "dev" / name for name in DEVICES)):
        with suppress(FileNotFoundError):  # a device that cannot be created here
            os.utime(path)
            _hide_reads(path)


def slots(root: Path) -> list[int]:
    """The uids of the guests that have a tree in this root."""
    return [int(name) for name in os.listdir(root / SLOTS) if name.isdigit()]  # noqa: PTH208


def empty_slots(root: Path, first: int, count: int) -> None:
    """Remove what guests with these uids have left. They are gone."""
    for uid in slots(root):
        if first <= uid < first + count:
            for folder in WRITABLE:
                with suppress(FileNotFoundError):
                    empty(f"{root}/{SLOTS}/{uid}/{folder}")


def _build(root: Path, reads: list[str], complete: tuple[str, ...]) -> None:
    root.mkdir(mode=0o755)
    for path in reads:
        target = root / path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        if os.path.lexists(path) and not os.path.lexists(target):
            left_out = frozenset() if path in complete else LEFT_OUT
            _copy_tree(path, str(target), _copy, left_out)
    for folder in ("etc", SLOTS):
        (root / folder).mkdir(exist_ok=True)
    (root / SLOTS).chmod(0o700)
    for path, text in TEXTS.items():
        (root / path.lstrip("/")).write_text(text)
        _hide_reads(root / path.lstrip("/"))
    _devices(root / "dev", 0)


def _copy_tree(
    source: str, target: str, copy_file: Callable[[str, str], None], left_out: frozenset[str] = frozenset()
) -> None:
    """Copy a file or a tree with `copy_file`. Symbolic links stay links.

    Copies only files and folders that everyone can read, and no file that is setuid or setgid.
    """
    mode = os.lstat(source).st_mode
    if stat.S_ISLNK(mode):
        os.symlink(os.readlink(source), target)  # noqa: PTH115, PTH211
        _hide_reads(target)
    elif not mode & stat.S_IROTH:
        return
    elif stat.S_ISDIR(mode):
        os.makedirs(target, exist_ok=True)  # noqa: PTH103
        os.chmod(target, 0o755)  # noqa: PTH101, S103  whatever the umask of this process is
        with os.scandir(source) as entries:
            for entry in entries:
                if entry.name in left_out or (left_out and entry.name.endswith(NOT_LOADED)):
                    continue
                _copy_tree(entry.path, f"{target}/{entry.name}", copy_file, left_out)
        _hide_reads(target)
    elif stat.S_ISREG(mode) and not mode & (stat.S_ISUID | stat.S_ISGID):
        copy_file(source, target)


def _copy(source: str, target: str) -> None:
    with open(source, "rb") as old, open(target, "xb") as new:  # noqa: PTH123
        try:
            fcntl.ioctl(new, FICLONE, old.fileno())  # shares the blocks if the file system can
        except OSError:
            shutil.copyfileobj(old, new, 1 << 20)
        status = os.fstat(old.fileno())
        os.fchmod(new.fileno(), 0o755 if status.st_mode & 0o111 else 0o644)
    os.utime(target, ns=(LATER_NS, status.st_mtime_ns))  # bytecode is only valid for a source with the same mtime


def _hide_reads(path: str | Path) -> None:
    """Set an access time that reading does not change: it would tell guests what others have read, and when."""
    os.utime(path, ns=(LATER_NS, os.lstat(path).st_mtime_ns), follow_symlinks=False)


def _devices(folder: Path, owner: int) -> None:
    """Make device files if that works. Otherwise make only `null`, as an empty file that the owner can write to."""
    folder.mkdir(mode=0o755)
    for name in DEVICES:
        with suppress(OSError):
            os.mknod(folder / name, stat.S_IFCHR | 0o666, os.makedev(*_DEVICE_NUMBERS[name]))
            (folder / name).chmod(0o444 if name == "zero" else 0o666)  # see `allowed_calls.MAP_SHARED`
            os.close(os.open(folder / name, os.O_RDONLY | os.O_NONBLOCK))
            continue
        (folder / name).unlink(missing_ok=True)
        if name == "null":
            _renew_null(folder / name, owner)


def _renew_null(path: Path, owner: int) -> None:
    """Make `/dev/null` an empty file that the owner can write to, unless it is a device."""
    if path.exists() and not path.is_file():
        return
    path.touch(mode=0o600)
    path.chmod(0o600)
    os.truncate(path, 0)
    os.chown(path, owner, owner)


def empty(folder: str) -> None:
    """Remove everything that a guest left in `folder`, however deep. No link is followed, and few files are open.

    Call this when no process of the guest is left, because a folder without permissions is opened by its
    name, which a live process could replace.
    """
    top = _open_folder(folder, None)
    try:
        waiting = ["."]
        prefix, moved = f".{secrets.token_hex(8)}-", 0
        while waiting:
            name = waiting.pop()
            here = _open_folder(name, top)
            try:
                for entry in os.listdir(here):  # noqa: PTH208
                    if stat.S_ISDIR(os.lstat(entry, dir_fd=here).st_mode):
                        # A path may be longer than the kernel accepts, so every folder is moved to the top first.
                        moved += 1
                        os.close(_open_folder(entry, here))  # restores the permissions that a rename needs
                        os.rename(entry, f"{prefix}{moved}", src_dir_fd=here, dst_dir_fd=top)
                        waiting.append(f"{prefix}{moved}")
                    else:
                        os.unlink(entry, dir_fd=here)
            finally:
                os.close(here)
            if name != ".":
                os.rmdir(name, dir_fd=top)
    finally:
        os.close(top)


def _open_folder(name: str, above: int | None) -> int:
    """Open a folder, but no link to one, and give its owner all permissions."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        fd = os.open(name, flags, dir_fd=above)
    except PermissionError:
        os.chmod(name, 0o700, dir_fd=above)  # this user owns it; the guest may have removed the permissions
        fd = os.open(name, flags, dir_fd=above)
    try:
        os.fchmod(fd, 0o700)
    except OSError:
        os.close(fd)
        raise
    return fd


def sweep(folder: Path) -> None:
    """Remove the roots whose files on the host have changed or are gone. A root in use stays until the next sweep."""
    if folder.is_dir():
        with _locked(folder / "lock"):
            _sweep(folder)


def _sweep(folder: Path) -> None:
    for lock_file in folder.glob("*.used"):
        if not _is_current(lock_file):
            _remove_unless_locked(lock_file)


def _is_current(lock_file: Path) -> bool:
    """Whether the host still has what the root was copied from, as far as `_key` notices."""
    root = lock_file.with_suffix("")
    # The file may be damaged, or from an earlier version, which did not record the paths.
    with suppress(ValueError, TypeError, OSError, RecursionError):
        return root.exists() and _key(json.loads(lock_file.read_text())) == root.name
    return False


def _remove_unless_locked(lock_file: Path) -> None:
    root, partial = lock_file.with_suffix(""), lock_file.with_name(PARTIAL)
    fd = os.open(lock_file, os.O_RDWR | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return
    else:
        shutil.rmtree(partial, ignore_errors=True)
        if root.exists():
            root.rename(partial)  # atomic, so that no incomplete root is left if we are killed now
        shutil.rmtree(partial, ignore_errors=True)
        lock_file.unlink()
    finally:
        os.close(fd)


def _key(reads: list[str]) -> str:
    """A name for the content of the root. It changes with the inode or time of one of `reads`."""
    parts = [FORMAT]
    for path in (*reads, "/etc/ld.so.cache"):
        with suppress(FileNotFoundError):
            status = Path(path).stat()
            parts += [path, str(status.st_ino), str(status.st_mtime_ns)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:24]


@contextmanager
def _locked(path: Path) -> Iterator[int]:
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield fd
    finally:
        os.close(fd)
