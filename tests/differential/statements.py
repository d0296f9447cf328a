"""The statements of generated programs, written as in `grammar.py`; `$body` is a block of one to three more."""

from __future__ import annotations

SIMPLE = [
    "$=int = $int", "$=str = $str", "$=ints = $ints", "$=si = $si", "$=float = $float", "$=bool = $bool", "$=strs = $strs",
    "print($int)", "print($str)", "print($ints)", "print($float)", "print($bool)", "print($si)", "print($strs)", "print($pairs)",
    "print($maybe)", "print($pair)", "print($rows)", "print($is_)", "print($grid)", "print($ic)", "print($iqueue)", "print($any)",
    "$=maybe = $maybe", "$=pair = $pair", "$=pairs = $pairs", "$=rows = $rows", "$=is_ = $is_", "$=grid = $grid", "$=iset = $iset",
    "$=sset = $sset", "$=ic = $ic", "$=iqueue = $iqueue", "$=cdict = $cdict", "$=day = $day", "$=stamp = $stamp", "$=any = $any",
    "$=row = $row", "$=floats = $floats", "print($day)", "print($stamp)", "print($span)", "print($floats)", "print($bytes)",
    "$=match = $match", "print($@match)", "print($@match.groups())", "print($@match.span())", "print($@match.groupdict())",
    "$@int += $int", "$@int -= $int", "$@int *= $digit", "$@int //= $int", "$@int /= $int", "$@int %= $int", "$@str += $str",
    "$@float += $float", "$@float *= 2", "$@float /= $int", "$@ints += [$int]", "$@iset |= {$int}", "$@si |= {'q': $int}",
    "$=ints = $@ints", "$=si = $@si", "$=grid = $@grid", "$=iset = $@iset", "$=int = $=int = $int", "$=int, $=int = $int, $int",
    "$=int, $=int = $pair", "$=int, *$=ints = $ints", "*$=ints, $=int = $ints", "$=str, $=int = $pairs[0]", "$=int, $=int = $ints",
    "$=str, $=str = $str.split('=')", "$=int, $=int = map(int, ['1', '2'])", "($=int, $=int), $=str = $pair, $str",
    "if len($@ints) < 12: $@ints.append($int)", "if len($@ints) < 12: $@ints.extend($ints)", "if len($@ints) < 12: $@ints.insert($int, $int)",
    "$@ints.sort()", "$@ints.sort(key=lambda $v.int: $int')", "$@ints.sort(reverse=True)", "$@ints.reverse()", "$@ints.pop()",
    "$@ints.pop($index)", "$@ints.remove($int)", "$@ints.clear()", "$@ints[$index] = $int", "$@ints[1:2] = $ints", "$@ints[:] = $ints",
    "$@ints[$index] += $int", "del $@ints[0]", "$@strs.sort(key=len)", "if len($@strs) < 12: $@strs.append($str)", "print($@ints.pop())",
    "$@si[$key] = $int", "$@si[$key] += $int", "$@si[$key] = $@si.get($key, 0) + 1", "$@si.setdefault($key, $int)", "$@si.update($si)",
    "$@si.update(b=$int)", "$@si.pop($key)", "$@si.pop($key, None)", "print($@si.popitem())", "$@si.clear()", "$@is_[$int] = $str",
    "$@is_[$bool] = $str", "print($@is_.pop($int))", "del $@si[$key]", "$@cdict[$key] += $int", "$@cdict[$key]", "print($@cdict)", "print($@cdict[$key])",
    "$@ic[$char] += $int", "$@ic.update($str)", "print($@ic.most_common())", "$@iset.add($int)", "$@iset.discard($int)", "$@iset.remove($int)",
    "$@iset.update($ints)", "print(len($@iset), sorted($@iset))", "print($@iset)", "print($@iset.pop())", "$@iqueue.append($int)", "$@iqueue.appendleft($int)",
    "print($@iqueue.popleft())", "$@iqueue.rotate($int)", "$@iqueue.extend($ints)", "$@grid[0][0] = $int", "$@grid[$index][$index] += $int",
    "if len($@grid) < 9: $@grid.append($ints)", "$@row['n'] = $int", "$@row['name'] += $str", "$@row['extra'] = $wild", "print($@row)", "$@rows[$index]['n'] += $int",
    "$@rows.sort(key=lambda $v.row: $1['n'])", "if len($@rows) < 9: $@rows.append($row)", "$@box.add($int)", "$@box.value = $int", "$@box.value += $int", "print($@box)",
    "print($@box.items, $@box.value)", "$@box.extra = $wild", "print($@box.extra)", "print($@box[$int])", "print($@box + $@box)", "print(list($@box))", "print($int in $@box)",
    "print(len($@box))", "print(bool($@box))", "print($@box < $@box)", "print(-$@box)", "print($@box($int))", "$@box[$int] = $int", "print($@box.made)", "$@box.made += 1", "$=box = $@box",
    "print($@rec)", "print($@rec.x, $@rec.y)", "$=int, $=int = $@rec", "$@rec.x = 1", "print($@rec._asdict())", "print($@item)", "print($@item.name, $@item.qty)",
    "$@item.qty += $int", "$@item.tags.append($str)", "print($@item == Item('a', 1))", "$@item.nothing", "print(dataclasses.asdict($@item))", "raise ValueError($str)", "raise KeyError($str)",
    "raise ValueError($int)", "raise ValueError($str, $int)", "raise TypeError", "raise RuntimeError(f'bad {$@int}')", "assert $bool", "assert $bool, $str", "assert $int == $int, f'got {$@int}'",
    "print($int, $str, $float)", "print($int, $str, sep='|')", "print($str, end=';')", "print(*$ints)", "print(*$strs, sep=', ')", "print()", "print($wild)", "print($wild, $wild)", "$=wild = $wild", "print($@wild)",
    "print(sorted($wild))", "$=wild, $=wild = $wild", "$@wild += $wild", "$wild", "$@wild[$wild] = $wild", "$@wild.x = $wild", "print(f'{$@wild}')", "print(any($bool' for $v.int in $ints), $int)", "$=gen = ($int' for $v.int in $ints)",
    "print(list($@gen))", "print(next($@gen))", "$=gen = map(lambda $v.int: $int', $ints)", "$=gen = iter($ints)", "print(next($@gen, None))",
    "print($@ii($int), $@ii($int))", "print($@ii($str))", "print($@ii($wild))", "print(list(map($@ii, $ints)))", "print(sorted($ints, key=$@ii))", "print($@ii)", "print($@ii())", "print([$@ii($1) for $v.int in $ints])", "$=ii = lambda $v.int: $int'", "$=ii = lambda $v.int, $v.ints=[]: $int'",
    "$=ss = lambda $v.str: $str'", "$=ii = $@ii", "print((lambda *a, **k: (a, k))($int, q=$int))", "print($@int.real)", "print($@str.nothing)", "print((n := $int) + n)", "global_total = $int", "print($@maybe + 1)", "print($@maybe.upper())", "print($@maybe[0])",
]  # fmt: skip

COMPOUND = [
    "if $bool:\n    $body", "for $v.int in range($digit):\n    $body'", "for $v.int in $ints:\n    $body'", "if $bool:\n    $body\nelse:\n    $body",
    "for $v.str in $strs:\n    $body'", "for $v.str in $str[:4]:\n    $body'", "for $v.str, $v.int in $si.items():\n    $body'",
    "for $v.int, $v.str in enumerate($strs):\n    $body'", "for $v.int, $v.int in zip($ints, $ints):\n    $body'",
    "for $v.str in sorted($si):\n    $body'", "for $v.row in $rows:\n    $body'", "for $v.str in $si:\n    $body'", "for $v.ints in $grid:\n    $body'",
    "for $v.int in $ints:\n    if $bool':\n        $jump\n    $body'", "for $v.int in $ints:\n    if $bool':\n        break\nelse:\n    $body",
    "for $v.int in $iset:\n    $body'", "for $v.int in sorted($iset):\n    $body'", "for $v.int in reversed($ints):\n    $body'", "for $v.int in $@ints:\n    $@ints.remove($1)",
    "for $v.str in $si.keys():\n    $@si[$1] = $int", "for $v.wild in $wild:\n    $body'", "for $v.int in map(lambda $v.int: $int', $ints):\n    $body'", "for $v.int in ($int' for $v.int in $ints):\n    $body'",
    "for $v.int, $v.int in itertools.product($ints[:3], repeat=2):\n    $body'", "for $v.int, $v.int in itertools.combinations($ints[:4], 2):\n    $body'", "for $v.str, $v.strs in itertools.groupby($strs, key=lambda $v.str: $str'):\n    print($1, list($2))",
    "for $v.match in re.finditer($regex, $str):\n    print($1.group(), $1.span())", "for $v.str in list($si):\n    $body'",
    "turns = 3\nwhile turns > 0:\n    turns -= 1\n    $body", "turns = $digit\nwhile turns:\n    turns -= 1\n    if $bool:\n        $jump\n    $body\nelse:\n    $body",
    "try:\n    $body\nexcept $error:\n    $body", "try:\n    $body\nexcept $error as e:\n    print($seen)", "try:\n    $body\nexcept $error as e:\n    print($seen)", "try:\n    print($wild)\nexcept $error as e:\n    print($seen)",
    "try:\n    $body\nexcept $error as e:\n    print($seen)\nelse:\n    $body\nfinally:\n    $body", "try:\n    $body\nfinally:\n    $body", "try:\n    $body\nexcept:\n    $body", "try:\n    $body\nexcept $error:\n    raise",
    "try:\n    $body\nexcept $error as e:\n    raise RuntimeError($str) from e", "try:\n    $body\nexcept $error as e:\n    $=wild = e", "try:\n    $body\nexcept KeyError:\n    pass\nexcept $error as e:\n    print($seen)",
    "try:\n    print($int)\nexcept ZeroDivisionError as e:\n    print($seen)", "try:\n    print($int)\nexcept (ValueError, KeyError) as e:\n    print($seen)", "try:\n    try:\n        $body\n    except $error:\n        print('inner')\nexcept $error as e:\n    print($seen)",
    "def $=ii($v.int):\n    $body'\n    return $int'", "def $=ii($v.int, $v.int=$int):\n    return $int'", "def $=ii($v.int, $v.ints=[]):\n    if len($2) < 9: $2.append($1)\n    return len($2)", "def $=ii($v.int):\n    if $bool':\n        return $int'\n    $body'",
    "def $=ii($v.int, *$v.pair, **$v.si):\n    print($2, $3)\n    return $int'", "def $=ss($v.str):\n    return ($str')[:40]", "def $=ii(n):\n    return 1 if n < 2 else n * 0", "def $=ii($v.int):\n    global global_total\n    global_total = $1\n    return $1",
    "def make($v.int):\n    def inner($v.int):\n        nonlocal $1\n        $1 += $2\n        return $1\n    return inner\n$=ii = make($int)", "def make($v.int):\n    return lambda $v.int: $int'\n$=ii = make($int)", "def $=ii($v.int) -> int:\n    try:\n        return $int'\n    except $error:\n        return -1\n    finally:\n        print('done')",
    "def $=ii($v.int):\n    if $1 <= 0:\n        raise ValueError($str)\n    return $1", "@functools.lru_cache(maxsize=None)\ndef $=ii($v.int):\n    return $int'", "def logged(f):\n    def wrapper(*args):\n        print('call', args)\n        return f(*args)\n    return wrapper\n@logged\ndef $=ii($v.int):\n    return $int'", "def $=ii($v.int):\n    yield $int'",
    "fs = []\nfor $v.int in range(3):\n    fs.append(lambda: $int')\nprint([f() for f in fs])", "fs = [lambda $v.int, k=$1: $1 + k for $v.int in range(3)]\nprint([f($int) for f in fs])", "def $=ii($v.int):\n    return $@ii($1) + $int'",
    "class Box:\n    made = 0\n    def __init__(self, $v.int, $v.ints=None):\n        self.value = $1\n        self.items = $2 or []\n    def add(self, $v.int):\n        if len(self.items) < 9: self.items.append($3)\n        self.value += $int'\n        return self\n    $special\n$=box = Box($int)",
    "class Box:\n    made = $int\n    def __init__(self, $v.int):\n        self.value = $int'\n        self.items = $ints'\n    def add(self, $v.int):\n        self.value = $int'\n        return self\n    def __repr__(self):\n        return f'Box({self.value})'\n    $special\n$=box = Box($int)",
    "P = namedtuple('P', 'x y')\n$=rec = P($int, $int)", "P = namedtuple('P', ['x', 'y'])\n$=rec = P(x=$int, y=$wild)", "@dataclass\nclass Item:\n    name: str\n    qty: int = $digit\n    tags: list = field(default_factory=list)\n$=item = Item($str, $int)", "@dataclass\nclass Item:\n    name: str\n    qty: float\n    def cost(self):\n        return self.qty * $digit\n$=item = Item($str, $int)\nprint($@item.cost())",
    "match $wild:\n    case 1:\n        $body\n    case [x, *rest]:\n        print(x, rest)\n    case {'a': v}:\n        print(v)\n    case str() as s:\n        print(s)\n    case _:\n        $body", "match $int:\n    case 0 | 1:\n        $body\n    case n if n > $int:\n        print(n)\n    case _:\n        $body",
    "groups = {}\nfor $v.str in $strs:\n    groups.setdefault($key', []).append($1)\nprint(groups)", "groups = defaultdict(list)\nfor $v.row in $rows:\n    groups[$1['name']].append($1['n'])\nprint(dict(groups))", "groups = defaultdict($maker)\nfor $v.str, $v.int in $pairs:\n    groups[$1] += $2\nprint(sorted(groups.items()))", "seen = set()\nfor $v.int in $ints:\n    if $1 in seen:\n        print('again', $1)\n    seen.add($int')\nprint(len(seen))",
    "with open('/tmp/x.txt') as f:\n    print(f.read())", "async def go($v.int):\n    return $int'\nprint(await go($int))", "total = 0\nfor $v.int in $ints:\n    total += $int'\nprint(total)", "best = None\nfor $v.int in $ints:\n    if best is None or $1 > best:\n        best = $1\nprint(best)", "for $v.int in $ints: print($wild')", "import math as m\nprint(m.floor($float))",
]  # fmt: skip

PARTS: dict[str, list[str]] = {
    "jump": ["break", "continue", "pass"],
    "error": ["ValueError", "KeyError", "IndexError", "ZeroDivisionError", "TypeError", "Exception", "(KeyError, IndexError)", "ArithmeticError", "LookupError", "AttributeError", "StopIteration", "NameError", "(TypeError, ValueError)", "AssertionError", "RuntimeError", "json.JSONDecodeError", "BaseException", "OverflowError"],
    "seen": ["'caught'", "type(e).__name__", "str(e)", "e", "repr(e)", "f'{e}'", "e.args", "isinstance(e, ValueError)", "'error: ' + str(e)", "e.args[0]", "f'{type(e).__name__}: {e}'", "len(str(e))", "str(e) or 'none'", "bool(e)"],
    "maker": ["int", "list", "float", "lambda: 0", "str"],
    "special": [
        "pass", "def __repr__(self):\n    return f'<{self.value}>'", "def __str__(self):\n    return $str'", "def __eq__(self, other):\n    return self.value == other.value", "def __add__(self, other):\n    return Box(self.value + other.value)",
        "def __getitem__(self, i):\n    return self.items[i]", "def __contains__(self, x):\n    return x in self.items", "def __len__(self):\n    return len(self.items)", "def __bool__(self):\n    return False", "def __lt__(self, other):\n    return self.value < other.value",
        "def __iter__(self):\n    return iter(self.items)", "def __call__(self, x):\n    return self.value + x", "def __neg__(self):\n    return Box(-self.value)", "def __setitem__(self, i, x):\n    self.items[i] = x", "@property\ndef double(self):\n    return self.value * 2", "@staticmethod\ndef make():\n    return Box($int)", "def __hash__(self):\n    return 1", "def extra(self):\n    return $int'",
        "def __iter__(self):\n    self.at = 0\n    return self\ndef __next__(self):\n    self.at += 1\n    if self.at > 3:\n        raise StopIteration\n    return self.at",
    ],
}  # fmt: skip

MODULES = {
    "json.": "import json", "re.": "import re", "math.": "import math", "itertools.": "import itertools", "copy.": "import copy", "bisect.": "import bisect", "hashlib.": "import hashlib",
    "base64.": "import base64", "functools.": "import functools", "dataclasses.": "import dataclasses", "reduce(": "from functools import reduce", "Counter(": "from collections import Counter",
    "defaultdict(": "from collections import defaultdict", "deque(": "from collections import deque", "namedtuple(": "from collections import namedtuple", "@dataclass": "from dataclasses import dataclass", "field(": "from dataclasses import field",
    "timedelta(": "from datetime import timedelta", "datetime(": "from datetime import datetime", "datetime.": "from datetime import datetime", "date(": "from datetime import date", "date.": "from datetime import date",
}  # fmt: skip
"""What a program must import, by the text that gives it away."""
