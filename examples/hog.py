import numpy as np

held = []
while True:
    held.append(np.ones(1_000_000))
