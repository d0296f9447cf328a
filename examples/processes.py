import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

with ThreadPoolExecutor(4) as pool:
    squares = list(pool.map(lambda n: n * n, range(6)))
child = subprocess.run([sys.executable, "-c", "print(6 * 7)"], capture_output=True, check=True)
return {"threads": squares, "child": int(child.stdout)}
