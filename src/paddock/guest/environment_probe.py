"""Imports an environment's preloads and reports, as JSON, which files and folders its interpreter reads.

`environment_probe.py REPORT MODULE…`, run by the environment's interpreter after installation. The report goes to a
file, because an imported package may print. If a preload cannot be imported, the program exits with one line on stderr.
"""

import importlib
import json
import os
import re
import sys
import sysconfig
from contextlib import suppress
from pathlib import Path


def main(report: str, preload: list[str]) -> None:
    for module in preload:
        try:
            importlib.import_module(module)
        except Exception as problem:  # noqa: BLE001  whatever a package raises
            sys.exit(f"import {module}: {type(problem).__name__}: {problem}")
    write_font_cache()
    import_extensions()
    paths = sysconfig.get_paths()
    python = Path(sys.executable).resolve()
    stdlib, platstdlib = (Path(paths[name]).resolve() for name in ("stdlib", "platstdlib"))
    libraries_read = (path for library in libraries() for path in library_paths(library, stdlib))
    paths_read = [str(stdlib), str(platstdlib), *with_links(python), *libraries_read]
    answer = {
        "python": str(python),
        "version": ".".join(map(str, sys.version_info[:3])),
        "site_packages": paths["purelib"],
        "paths": paths_read,
        "installed": installed(),
        "warm_modules": warm_modules(preload),
    }
    Path(report).write_text(json.dumps(answer), encoding="utf-8")


def write_font_cache() -> None:
    """Write matplotlib's font cache again, without the fonts of the system, which guests do not see."""
    if (fonts := sys.modules.get("matplotlib.font_manager")) is not None:
        own_folder = sys.modules["matplotlib"].get_data_path()
        for kind in ("afmlist", "ttflist"):
            entries = getattr(fonts.fontManager, kind)
            setattr(fonts.fontManager, kind, [entry for entry in entries if entry.fname.startswith(own_folder)])
        folder = Path(os.environ["MPLCONFIGDIR"])
        fonts.json_dump(fonts.fontManager, folder / f"fontlist-v{fonts.FontManager.__version__}.json")


def import_extensions() -> None:
    """Load the libraries that the standard library links to, such as OpenSSL, which may lie next to the interpreter."""
    folder = Path(sysconfig.get_config_var("DESTSHARED") or ".")
    for name in sorted({path.name.partition(".")[0] for path in folder.glob("*.so")}):
        if not name.startswith(("_test", "xx", "_xx", "_ctypes_test")):
            # An extension module whose shared library is missing on this machine is of no use to guests either.
            with suppress(ImportError):
                importlib.import_module(name)


def libraries() -> list[Path]:
    """The shared libraries that are loaded now; empty without /proc."""
    maps = Path("/proc/self/maps")
    lines = maps.read_text(encoding="utf-8", errors="surrogateescape").splitlines() if maps.exists() else []
    mapped = {line.split(maxsplit=5)[5] for line in lines if "/" in line}
    return [Path(path).resolve() for path in sorted(mapped) if ".so" in Path(path).name]


def library_paths(library: Path, stdlib: Path) -> list[str]:
    """The folder of a library, if the system or this Python has it for libraries. Otherwise only the library."""
    system = tuple(f"{folder}/lib{bits}/" for folder in ("", "/usr") for bits in ("", "32", "64", "x32"))
    if str(library).startswith((*system, f"{stdlib.parent}/")):
        return [str(library.parent)]
    return with_links(library)


def with_links(file: Path) -> list[str]:
    """A file and the links to it in its folder, by which a program may know it."""
    return [str(path) for path in file.parent.iterdir() if os.path.realpath(path) == str(file)]


def installed() -> dict[str, str]:
    from importlib.metadata import distributions

    versions = {distribution.metadata["Name"]: distribution.version for distribution in distributions()}
    return dict(sorted(versions.items()))


def warm_modules(preload: list[str]) -> list[str]:
    """The preloads, and the modules of every distribution that depends on a preload, directly or indirectly."""
    from importlib.metadata import distributions, packages_distributions

    owners = {module: {_canonical(name) for name in names} for module, names in packages_distributions().items()}
    requirements = {
        _canonical(distribution.metadata["Name"]): {
            _canonical(re.split(r"[^\w.-]", required, maxsplit=1)[0])
            for required in distribution.requires or ()
            if not re.search(r"\bextra\s*==", required)
        }
        for distribution in distributions()
    }
    preloaded = {module.partition(".")[0] for module in preload}
    warm = {name for module in preloaded for name in owners.get(module, ())}
    while more := {name for name, required in requirements.items() if name not in warm and required & warm}:
        warm |= more
    return sorted(preloaded | {module for module, names in owners.items() if names & warm})


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


main(sys.argv[1], sys.argv[2:])
