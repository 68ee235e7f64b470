"""The command `diffpbd`, with one thread of BLAS unless OPENBLAS_NUM_THREADS says otherwise.

Its matrices are small: more threads gain nothing on an idle machine, and on a busy one they wait for each other (an
excitation took 90 s instead of 7 s of two cores). NumPy reads the variable when it is first imported, so this comes before.
"""

import os
import sys

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

try:
    from diffpbd.runtime.cli import main
except KeyboardInterrupt:  # Ctrl-C while modules are read, half a second on a busy machine
    sys.stderr.write("\nInterrupted.\n")
    raise SystemExit(130) from None

__all__ = ["main"]

if __name__ == "__main__":
    main()
