# --- days-between-two-dates
from datetime import date

start = date(2024, 1, 15)
end = date(2024, 3, 1)
(end - start).days
# --- add-weeks-with-timedelta
from datetime import datetime, timedelta

kickoff = datetime(2024, 2, 26, 9, 30)
for i in range(3):
    d = kickoff + timedelta(weeks=i)
    print(i, d.isoformat())
# --- parse-and-reformat-dates
from datetime import datetime

raw = ["2024-03-05", "2023-12-25"]
print([datetime.strptime(r, "%Y-%m-%d").strftime("%d %B %Y") for r in raw])
# --- fromisoformat-and-compare
from datetime import date, datetime

a = datetime.fromisoformat("2024-05-01T08:00:00")
b = datetime.fromisoformat("2024-05-01T17:45:30")
delta = b - a
print(delta)
print(delta.total_seconds() / 3600)
date.fromisoformat("2024-05-01") == a.date()
# --- weekday-names-of-a-week
from datetime import date, timedelta

names = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
d = date(2024, 4, 1)
week = [(d + timedelta(days=i)) for i in range(7)]
[f"{names[x.weekday()]} {x.day:02d}" for x in week]
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
# --- leap-years-without-a-library
def is_leap(y: int) -> bool:
    return y % 4 == 0 and (y % 100 != 0 or y % 400 == 0)


print([y for y in range(1896, 1910) if is_leap(y)])
is_leap(2000), is_leap(1900)
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
# --- invalid-date-is-caught
from datetime import date, datetime

for y, m, d in [(2024, 2, 29), (2023, 2, 29), (2024, 13, 1)]:
    try:
        print(date(y, m, d))
    except ValueError as e:
        print("invalid:", e)
try:
    datetime.strptime("31/12", "%Y-%m-%d")
except ValueError as e:
    print(e)
# --- timezone-aware-arithmetic
from datetime import datetime, timedelta, timezone

utc = datetime(2024, 7, 1, 12, 0, tzinfo=timezone.utc)
tokyo = timezone(timedelta(hours=9))
print(utc.isoformat())
print(utc.astimezone(tokyo).isoformat())
utc == utc.astimezone(tokyo)
# --- naive-and-aware-comparison-fails
from datetime import datetime, timezone

a = datetime(2024, 1, 1)
b = datetime(2024, 1, 1, tzinfo=timezone.utc)
try:
    print(a < b)
except TypeError as e:
    print(type(e).__name__, e)
print(a == b)
# --- group-timestamps-by-month
from collections import defaultdict
from datetime import datetime

stamps = ["2024-01-03T10:00:00", "2024-02-10T11:30:00", "2024-01-28T23:59:59"]
by_month = defaultdict(int)
for s in stamps:
    by_month[datetime.fromisoformat(s).strftime("%Y-%m")] += 1
dict(by_month)
# --- timedelta-arithmetic-and-repr
from datetime import timedelta

total = sum([timedelta(minutes=50), timedelta(hours=1, minutes=25)], timedelta())
print(total)
print(repr(total))
print(total // timedelta(minutes=15), total % timedelta(minutes=15))
print(timedelta(days=-1, hours=3))
# --- epoch-seconds-to-utc
from datetime import datetime, timezone

stamps = [0, 86400, 1700000000]
for s in stamps:
    print(datetime.fromtimestamp(s, tz=timezone.utc).strftime("%Y-%m-%d %H:%M:%S"))
# --- iso-week-numbers
from datetime import date

for d in (date(2020, 12, 31), date(2021, 1, 1), date(2021, 1, 4)):
    year, week, day = d.isocalendar()
    print(f"{d} -> {year}-W{week:02d}-{day}")
# --- first-monday-of-each-month
from datetime import date, timedelta


def first_monday(year, month):
    d = date(year, month, 1)
    return d + timedelta(days=(7 - d.weekday()) % 7)


return [str(first_monday(2024, m)) for m in range(1, 7)]
# --- overlapping-booking-intervals
from datetime import datetime

bookings = [
    ("a", datetime(2024, 1, 1, 9), datetime(2024, 1, 1, 10)),
    ("b", datetime(2024, 1, 1, 9, 30), datetime(2024, 1, 1, 11)),
    ("c", datetime(2024, 1, 1, 11), datetime(2024, 1, 1, 12)),
]
clashes = []
for i, (n1, s1, e1) in enumerate(bookings):
    for n2, s2, e2 in bookings[i + 1 :]:
        if s1 < e2 and s2 < e1:
            clashes.append(n1 + n2)
print(clashes)
# --- date-replace-and-sort
from datetime import date

dates = [date(2024, 5, 31), date(2022, 1, 2), date(2023, 8, 9)]
ordered = sorted(dates, reverse=True)
print([d.isoformat() for d in ordered])
print(max(dates).replace(month=1), min(dates).toordinal())
# --- hours-and-minutes-by-hand
def to_minutes(hhmm: str) -> int:
    h, m = map(int, hhmm.split(":"))
    return h * 60 + m


shifts = [("09:00", "17:30"), ("22:15", "06:00")]
total = 0
for a, b in shifts:
    minutes = (to_minutes(b) - to_minutes(a)) % (24 * 60)
    total += minutes
    print(f"{a}-{b}: {minutes // 60}h{minutes % 60:02d}")
total
