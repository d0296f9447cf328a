# --- count-business-days
from datetime import date, timedelta


def business_days(start: date, end: date) -> int:
    n = 0
    cur = start
    while cur <= end:
        if cur.weekday() < 5:
            n += 1
        cur += timedelta(days=1)
    return n


business_days(date(2024, 6, 1), date(2024, 6, 30))

# --- age-at-a-given-date
from datetime import date


def age(born: date, on: date) -> int:
    return on.year - born.year - ((on.month, on.day) < (born.month, born.day))


print(age(date(1990, 6, 15), date(2024, 6, 14)))
print(age(date(1990, 6, 15), date(2024, 6, 15)))

# --- calendar-month-lengths
import calendar

print([calendar.monthrange(2024, m)[1] for m in range(1, 13)])
print(calendar.isleap(2024), calendar.month_name[2])

# --- timezone-aware-arithmetic
from datetime import datetime, timedelta, timezone

utc = datetime(2024, 7, 1, 12, 0, tzinfo=timezone.utc)
tokyo = timezone(timedelta(hours=9))
print(utc.isoformat())
print(utc.astimezone(tokyo).isoformat())
utc == utc.astimezone(tokyo)

# --- group-timestamps-by-month
from collections import defaultdict
from datetime import datetime

stamps = ["2024-01-03T10:00:00", "2024-02-10T11:30:00", "2024-01-28T23:59:59"]
by_month = defaultdict(int)
for s in stamps:
    by_month[datetime.fromisoformat(s).strftime("%Y-%m")] += 1
dict(by_month)
