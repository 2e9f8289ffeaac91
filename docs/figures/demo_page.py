"""The picture of a page of results: the first screen of PAGE in headless Chromium, in few colours.

demo_page.py PAGE PICTURE, as `make figure` calls it after `proxembed demo`.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
WIDTH, HEIGHT = 1100, 1365  # to the end of the first curve
COLORS = 128


def main(page: Path, picture: Path) -> None:
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        sys.exit(f"a picture of a page needs one of {', '.join(BROWSERS)}; on Debian: apt-get install chromium")
    with tempfile.TemporaryDirectory() as folder:
        shot = Path(folder, "shot.png")
        words = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            f"--user-data-dir={folder}/profile",
        ]
        size = f"--window-size={WIDTH},{HEIGHT}"
        url = page.resolve().as_uri()
        subprocess.run([browser, *words, size, f"--screenshot={shot}", url], check=True, capture_output=True)
        with Image.open(shot) as image:
            image.convert("RGB").quantize(COLORS, dither=Image.Dither.NONE).save(picture, optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
