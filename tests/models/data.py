"""Faulty scripts with pandas and NumPy, from rounds in which answers to unseen scripts were judged by hand."""

# ruff: noqa: E501  a script is one line
from __future__ import annotations

from tests.models.cases import execute, run

_INVOICES_CSV = [
    {
        "file_name": "invoices.csv",
        "content": "Invoice No,Client,Net,VAT %,Date\nA-1,Acme,1200.5,19,01/03/2026\nA-2,Beta,300,7,15/03/2026\n",
    }
]
_TRANSACTIONS_CSV = [
    {
        "file_name": "transactions.csv",
        "content": "date,account,amount,category\n2026-01-03,checking,-45.20,food\n2026-01-04,savings,200,transfer\n2026-01-09,checking,-12,food\n",
    }
]
_WEATHER_JSON = [
    {
        "file_name": "weather.json",
        "content": '{"city": "Bern", "daily": {"temp": [3, 5, null], "rain": [0.1, 0, 2]}, "alerts": []}',
    }
]
_NESTED_JSON = [
    {
        "file_name": "nested.json",
        "content": '[{"id": 1, "meta": {"tags": ["a","b"], "owner": null}}, {"id": 2, "meta": {}}]',
    }
]
_SURVEY_CSV = [{"file_name": "survey.csv", "content": "id,age,score,comment\n1,34,7,ok\n2,,9,\n3,forty,8,bad\n"}]
_ORDERS_CSV_2 = [
    {
        "file_name": "orders.csv",
        "content": "order_id,customer,amount,order_date,status\n1,Ada,12.50,2026-01-03,paid\n2,Bob,,2026-01-04,open\n3,Ada,7.25,2026-02-01,paid\n",
    }
]
_EVENTS_JSONL = [{"file_name": "events.jsonl", "content": '{"type": "a", "n": 1}\n{"type": "b", "n": 2}\n'}]
_EMPLOYEES_CSV = [
    {
        "file_name": "employees.csv",
        "content": 'emp_id,full_name,dept,salary,hired\n1,Ann Lee,Eng,90000,2020-05-01\n2,Bo Ek,Ops,"72,500",2019-11-15\n3,Cy Ro,Eng,N/A,2021-02-30\n',
    }
]
_ORDERS_CSV = [
    {
        "file_name": "orders.csv",
        "content": "order_id,customer,amount,order_date,status\n1,Ada,12.50,2026-01-03,paid\n2,Bob,,2026-01-04,open\n3,Ada,7.25,2026-02-01,paid\n",
    },
    {"file_name": "customers.csv", "content": "id,name,city\nA1,Ada,Bern\nB2,Bob,Ulm\n"},
]
_TRIPS_CSV = [
    {
        "file_name": "trips.csv",
        "content": "trip_id,start_time,end_time,distance_km,driver\n1,2026-01-01 08:00,2026-01-01 08:45,12.4,Ann\n2,2026-01-01 09:00,,8.1,Bob\n",
    }
]
_FLIGHTS_CSV = [
    {
        "file_name": "flights.csv",
        "content": "flight,origin,dest,dep,delay_min,fare_usd\nLX1,ZRH,LHR,2026-05-01T07:10,12,$210.50\nBA2,LHR,JFK,2026-05-01T10:00,,$540\nLH3,FRA,ZRH,2026-05-02T06:45,-3,$99.99\n",
    }
]

DATA = {
    "invalid syntax (<unknown>, line 1)": run(
        "import pandas as pd\ndf = pd.read_csv('/files/invoices.csv')\nreturn df.query('VAT % > 10').to_dict('records')",
        3,
        "invalid syntax (<unknown>, line 1)",
        "Put a column whose name is not a plain word in backticks: df.",
        files=_INVOICES_CSV,
    ),
    "Cannot perform 'rand_' with a dtyped [fl": run(
        "import pandas as pd\ndf = pd.read_csv('/files/transactions.csv')\nfood = df[df['category'] == 'food' & df['amount'] < 0]\nreturn len(food)",
        3,
        "Cannot perform 'rand_' with a dtyped [fl",
        "`&` and `|` bind first: put each comparison in parentheses, ",
        files=_TRANSACTIONS_CSV,
    ),
    "Mixing dicts with non-Series may lead to": run(
        "import pandas as pd, json\nw = json.load(open('/files/weather.json'))\ndf = pd.DataFrame(w)\nreturn df['temp'].mean()",
        3,
        "Mixing dicts with non-Series may lead to",
        "Pass only the part with equally long lists: pd.DataFrame(x['",
        files=_WEATHER_JSON,
    ),
    "NDFrame.fillna() got an unexpected keywo": execute(
        "import pandas as pd\ndf = pd.DataFrame({'a': [1, None, 3]})\ndf['a'] = df['a'].fillna(method='ffill')\nreturn df['a'].tolist()",
        3,
        "NDFrame.fillna() got an unexpected keywo",
        "Write x.ffill() or x.bfill().",
    ),
    "Invalid comparison between dtype=datetim": execute(
        "import pandas as pd\nfrom datetime import date\ndf = pd.DataFrame({'d': pd.to_datetime(['2026-01-01', '2026-03-01'])})\nreturn len(df[df['d'] > date(2026, 2, 1)])",
        4,
        "Invalid comparison between dtype=datetim",
        "Compare with pd.Timestamp('2026-01-31'), or with such text.",
    ),
    "could not convert string to float: 'x'": execute(
        "import pandas as pd\ndf = pd.DataFrame({'a': ['x', 'y'], 'b': [1, 2]})\nreturn df.corr().to_dict()",
        3,
        "could not convert string to float: 'x'",
        "A column has text: write pd.to_numeric(column, errors='coerce')",
    ),
    "Columns must be same length as key": execute(
        "import pandas as pd\ndf = pd.DataFrame({'s': ['a-1', 'b-2']})\ndf[['k', 'n', 'z']] = df['s'].str.split('-', expand=True)\nreturn df.to_dict('list')",
        3,
        "Columns must be same length as key",
        "Name as many columns as the right side gives.",
    ),
    "Key 'tags' not found. If specifying a r": run(
        "import pandas as pd, json\ndata = json.load(open('/files/nested.json'))\ndf = pd.json_normalize(data, record_path='tags')\nreturn len(df)",
        3,
        "Key 'tags' not found. If specifying a r",
        "Give the whole path, as in record_path=['meta', 'tags'], and",
        files=_NESTED_JSON,
    ),
    "cannot safely convert passed user dtype": run(
        "import pandas as pd\ndf = pd.read_csv('/files/invoices.csv', dtype={'Net': int})\nreturn df['Net'].sum()",
        2,
        "cannot safely convert passed user dtype ",
        "The column has decimals or gaps: give it the dtype float.",
        files=_INVOICES_CSV,
    ),
    "only integer scalar arrays can be conver": execute(
        "import numpy as np\nx = np.concatenate(np.array([1, 2]), np.array([3]))\nreturn x.tolist()",
        2,
        "only integer scalar arrays can be conver",
        "Pass one list: np.concatenate([a, b]).",
    ),
    "Column 'age' has dtype str, cannot use m": run(
        "import pandas as pd\ndf = pd.read_csv('/files/survey.csv')\nreturn df.nlargest(1, 'age').to_dict('records')",
        3,
        "Column 'age' has dtype str, cannot use m",
        "It has text: write df['age'] = pd.to_numeric(df['age'], erro",
        files=_SURVEY_CSV,
    ),
    "Invalid frequency: M. Failed to parse wi": run(
        "import pandas as pd\ndf = pd.read_csv('/files/orders.csv')\nmonthly = df.resample('M')['amount'].sum()\nreturn monthly.to_dict()",
        3,
        "Invalid frequency: M. Failed to parse wi",
        "Write 'ME'.",
        files=_ORDERS_CSV_2,
    ),
    "Invalid frequency: days. Failed to parse": execute(
        "import pandas as pd\nidx = pd.date_range('2026-01-01', periods=3, freq='days')\nreturn [str(d) for d in idx]",
        2,
        "Invalid frequency: days. Failed to parse",
        "Use 'D', 'h', 'min', 's', 'W', 'ME' (month), 'QE' or 'YE'.",
    ),
    "Invalid value 'record' for option 'orien": execute(
        "import pandas as pd\ndf = pd.DataFrame({'a': [1]})\nreturn df.to_json(orient='record')",
        3,
        "Invalid value 'record' for option 'orien",
        "Use 'records', 'split', 'index', 'columns' or 'values'.",
    ),
    "cannot reindex on an axis with duplicate": execute(
        "import pandas as pd\ndf = pd.DataFrame({'k': ['a', 'a', 'b'], 'v': [1, 2, 3]})\ns = df.set_index('k')['v']\ns2 = s.reindex(['a', 'b', 'c'])\nreturn s2.to_dict()",
        4,
        "cannot reindex on an axis with duplicate",
        "Labels repeat: first x[~x.index.duplicated()], or x.groupby(",
    ),
    "Trailing data at position 21": run(
        "import pandas as pd\ndf = pd.read_json('/files/events.jsonl')\nreturn len(df)",
        2,
        "Trailing data at position 21",
        "Each line is a JSON value of its own: pass lines=True.",
        files=_EVENTS_JSONL,
    ),
    "'total' is not a valid function for 'Dat": execute(
        "import pandas as pd\ndf = pd.DataFrame({'a': [1,2]})\nout = df.groupby('a').agg('total')\nreturn out.to_dict()",
        3,
        "'total' is not a valid function for 'Dat",
        "Use a name that pandas has: 'sum', 'mean', 'median', 'count'",
    ),
    "cannot reshape array of size 10 into sha": execute(
        "import numpy as np\nm = np.arange(10).reshape(3, 4)\nreturn m.tolist()",
        2,
        "cannot reshape array of size 10 into sha",
        "The sizes must multiply to 10; one may be -1 if the rest fit",
    ),
    "too many values to unpack (expected 2)": run(
        "import pandas as pd\ndf = pd.read_csv('/files/employees.csv')\nfirst, last = df['full_name'].str.split(' ')\nreturn first",
        3,
        "too many values to unpack (expected 2)",
        "A column has one list for each row: write a.str.split(' ', e",
        files=_EMPLOYEES_CSV,
    ),
    "day is out of range for month. You might": run(
        "import pandas as pd\ndf = pd.read_csv('/files/employees.csv')\ndf['hired'] = pd.to_datetime(df['hired'], format='%Y-%m-%d')\nreturn df['hired'].min()",
        3,
        "day is out of range for month. You might",
        "Some text is not a real date: pass errors='coerce', whic",
        files=_EMPLOYEES_CSV,
    ),
    "Must provide 'func' or tuples of '(colum": run(
        "import pandas as pd\ndf = pd.read_csv('/files/orders.csv')\nres = df.groupby('customer').agg(total=('amount'), n=('order_id', 'count'))\nreturn res.to_dict()",
        3,
        "Must provide 'func' or tuples of '(colum",
        "Write each as a pair, as in total=('amount', 'sum').",
        files=_ORDERS_CSV_2,
    ),
    "Length mismatch: Expected axis has 5 ele": run(
        "import pandas as pd\ndf = pd.read_csv('/files/orders.csv')\ndf.columns = ['id', 'cust', 'amount', 'date']\nreturn list(df.columns)",
        3,
        "Length mismatch: Expected axis has 5 ele",
        "Give 5 names, one for each column, or rename some: df.rename",
        files=_ORDERS_CSV_2,
    ),
    "Length of values (2) does not match leng": run(
        "import pandas as pd\ndf = pd.read_csv('/files/orders.csv')\ndf['rank'] = [1, 2]\nreturn df.to_dict('records')",
        3,
        "Length of values (2) does not match leng",
        "Give 3 values, one for each row; a shorter list goes in as p",
        files=_ORDERS_CSV_2,
    ),
    "fp and xp are not of the same length.": execute(
        "import numpy as np\nx = np.linspace(0, 1, 5)\ny = np.array([1, 2, 3])\nreturn np.interp(0.5, x, y)",
        4,
        "fp and xp are not of the same length.",
        "Give both the same length.",
    ),
    "Last 2 dimensions of the array must be s": execute(
        "import numpy as np\nm = np.array([[1, 2, 3], [4, 5, 6]])\nreturn np.linalg.inv(m).tolist()",
        3,
        "Last 2 dimensions of the array must be s",
        "Only a square matrix has an inverse: use np.linalg.pinv(m) o",
    ),
    "The truth value of a Series is ambiguous": execute(
        "import pandas as pd\ndf = pd.DataFrame({'a': [1,2,3], 'b': [4,5,6]})\nreturn df[(df['a'] > 1) and (df['b'] < 6)].to_dict('records')",
        3,
        "The truth value of a Series is ambiguous",
        "Write & for and, | for or, ~ for not, with each comparison i",
    ),
    "Cannot perform reduction 'mean' with str": run(
        "import pandas as pd\ndf = pd.read_csv('/files/survey.csv')\nreturn df[['age', 'score']].mean().to_dict()",
        3,
        "Cannot perform reduction 'mean' with str",
        "A column has text: write pd.to_numeric(column, errors='coerce')",
        files=_SURVEY_CSV,
    ),
    "dict expected at most 1 argument, got 2": execute(
        "import pandas as pd\ndf = pd.DataFrame({'n': ['a', 'b'], 'v': [1, 2]})\nreturn dict(df['n'], df['v'])",
        3,
        "dict expected at most 1 argument, got 2",
        "Pass pairs: dict(zip(keys, values)).",
    ),
    "Series.sort_values() takes 1 positional": execute(
        "import pandas as pd\ndf = pd.DataFrame({'a': [1, 2, 3]})\nreturn df['a'].value_counts().sort_values('a').to_dict()",
        3,
        "Series.sort_values() takes 1 positional ",
        "Pass fewer, or by name: axis, ascending, inplace, kind, na_p",
    ),
    "low >= high Put the smaller number fi": execute(
        "import numpy as np\nr = np.random.randint(10, 1, size=3)\nreturn r.tolist()",
        2,
        "low >= high",
        "Put the smaller number first.",
    ),
    "'customer_id'": run(
        "import pandas as pd\no = pd.read_csv('/files/orders.csv')\nc = pd.read_csv('/files/customers.csv')\nm = o.merge(c, on='customer_id')\nreturn m.to_dict('records')",
        4,
        "'customer_id'",
        "Neither has it. Left: order_id, customer, amount, order_date",
        files=_ORDERS_CSV,
    ),
    "Usecols do not match columns, columns ex": run(
        "import pandas as pd\ndf = pd.read_csv('/files/orders.csv', usecols=['order_id', 'total'])\nreturn len(df)",
        2,
        "Usecols do not match columns, columns ex",
        "The keys are: order_id, customer, amount, order_date, status",
        files=_ORDERS_CSV_2,
    ),
    "Missing column provided to 'parse_dates'": run(
        "import pandas as pd\ndf = pd.read_csv('/files/orders.csv', parse_dates=['date'])\nreturn len(df)",
        2,
        "Missing column provided to 'parse_dates'",
        "Did you mean 'order_date'? The keys are: order_id, customer,",
        files=_ORDERS_CSV_2,
    ),
    "'>' not supported between instances of '": run(
        "import pandas as pd\ndf = pd.read_csv('/files/employees.csv')\nhigh = df[df['salary'] > 80000]\nreturn high.to_dict('records')",
        3,
        "'>' not supported between instances of '",
        "`df['salary']` has text such as '72,500': write pd.to_numeri",
        files=_EMPLOYEES_CSV,
    ),
    "unsupported operand type(s) for -: 'str' 2": run(
        "import pandas as pd\ndf = pd.read_csv('/files/trips.csv')\ndf['duration'] = df['end_time'] - df['start_time']\nreturn df['duration'].astype(str).tolist()",
        3,
        "unsupported operand type(s) for -: 'str'",
        "`df['end_time']` and `df['start_time']` are text: convert ea",
        files=_TRIPS_CSV,
    ),
    "['distance'] not in index": run(
        "import pandas as pd\ndf = pd.read_csv('/files/trips.csv')\nbest = df.loc[df['distance_km'].idxmax(), ['driver', 'distance']]\nreturn best.to_dict()",
        3,
        "['distance'] not in index",
        "Did you mean 'distance_km'? The keys are: trip_id, start_tim",
        files=_TRIPS_CSV,
    ),
    "unsupported operand type(s) for /: 'str'": run(
        "import pandas as pd\nf = pd.read_csv('/files/flights.csv')\nreturn f['fare_usd'].sum() / len(f)",
        3,
        "unsupported operand type(s) for /: 'str'",
        "`f['fare_usd']` has text such as '$210.50': write pd.to_nume",
        files=_FLIGHTS_CSV,
    ),
    "['z'] not found in axis": run(
        "import pandas as pd\ndf = pd.DataFrame({'a': [1]})\nreturn df.drop(columns=['z']).shape",
        3,
        "['z'] not found in axis",
        "No column has this name. Columns: a.",
    ),
    "The truth value of a Series is ambiguous 2": run(
        "import pandas as pd\ns = pd.Series([1, 2])\nok = bool(s)\nreturn ok",
        3,
        "The truth value of a Series is ambiguous",
        "Use .any(), .all() or .empty, and & | with parentheses.",
    ),
    "Only valid with DatetimeIndex, Timedelta": run(
        "import pandas as pd\ndf = pd.DataFrame({'v': [1, 2]})\nreturn df.resample('D').sum().to_dict()",
        3,
        "Only valid with DatetimeIndex, Timedelta",
        "Make a date column and name it: df['date'] = pd.to_datetime(",
    ),
}
