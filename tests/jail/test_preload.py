"""What guests find in memory before the first line of a script: the preload, and what its modules load on use."""

from __future__ import annotations

import asyncio
import subprocess

import pytest

from paddock.config import Config, GuestsConfig
from paddock.jail.environments import Built
from paddock.model.environments import EnvironmentConfig
from paddock.run import Paddock

USES = """
table = pandas.DataFrame({"key": ["a", "b"], "value": [1, 2]})
str(table.pivot_table(index="key", values="value")), table.to_dict(), numpy.fft.fft([1.0])
"""
FRESH = f"""
import sys, numpy, pandas
imported = set(sys.modules)
{USES}
print(*sorted(set(sys.modules) - imported))
"""


@pytest.mark.parametrize(("preload", "is_there"), [(("xml.dom.minidom",), True), ((), False)])
async def test_a_preload_is_imported_before_the_first_line(preload: tuple[str, ...], *, is_there: bool) -> None:
    environments = {"own": EnvironmentConfig(preload=preload)}
    async with Paddock(Config(environments=environments, cpython=GuestsConfig(environment="own"))) as paddock:
        result = await paddock.run("import sys\n'xml.dom.minidom' in sys.modules", engine="cpython")
    assert result.output is is_there


async def test_what_a_preload_loads_only_when_it_is_used_is_there_too(default_environment: Built) -> None:
    command = [default_environment.executable, "-I", "-c", FRESH]
    fresh = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, check=True)
    late = fresh.stdout.split()
    assert any(name.startswith("pandas.") for name in late), "all comes with the import: this shows nothing"
    code = "import sys\nfound = set(sys.modules)\nimport pandas\n[name for name in wanted if name not in found]"
    async with Paddock() as paddock:
        result = await paddock.run(code, engine="cpython", inputs={"wanted": ["numpy", "pandas", *late]})
    assert result.output == []
