"""Every faulty script with what its answer must tell."""

from __future__ import annotations

from tests.models.careless import CARELESS
from tests.models.cases import CASES
from tests.models.data import DATA
from tests.models.deep import DEEP
from tests.models.everyday import EVERYDAY
from tests.models.kinds import KINDS
from tests.models.meant import MEANT
from tests.models.misread import MISREAD
from tests.models.plain import PLAIN

ALL = {**CASES, **EVERYDAY, **CARELESS, **DATA, **PLAIN, **KINDS, **MISREAD, **MEANT, **DEEP}
