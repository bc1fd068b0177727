"""The way out of programs that bring their own GL context: what drew, and the picture."""

import sys

import numpy as np
from PIL import Image


def report(renderer, version):
    """Prints what drew; the test checks that it was the driver under test."""
    as_text = [x.decode() if isinstance(x, bytes) else str(x) for x in (renderer, version)]
    print("renderer:", as_text[0])
    print("version:", as_text[1])


def save(pixels, bottom_up=False):
    """Writes rows of RGB or RGBA bytes to the file named on the command line; an empty picture ends the program."""
    pixels = np.ascontiguousarray(np.asarray(pixels, "u1"))
    colors = len(np.unique(pixels.reshape(-1, pixels.shape[-1]), axis=0))
    if colors < 8:
        raise SystemExit(f"only {colors} colours: nothing was drawn")
    Image.fromarray(pixels[::-1] if bottom_up else pixels).convert("RGBA").save(sys.argv[1])
