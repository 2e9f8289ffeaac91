"""How many frames per second does the page of a map draw while it is zoomed, at 1,000, 20,000 and 100,000 rows?

Pages of made rows are shown in headless Chromium, without a graphics card; a script that only this file adds turns the
wheel over the first map for three seconds and counts the frames. A page of 2-D canvas circles, one `arc` a row as plain
scripts draw them, is the rival.
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from measure import show
from proxembed.data import Dataset
from proxembed.evaluate.evidence import Places
from proxembed.report.map_page import map_page_html, map_record
from proxembed.splits.splits import Split

ROWS, LEAST, CLASSES = (1000, 20_000, 100_000), 30, 8
TURNS = """
<script>
addEventListener("load", () => setTimeout(() => {
  const canvas = document.querySelector("canvas"), box = canvas.getBoundingClientRect(), start = performance.now();
  let frames = 0;
  const turn = () => {
    const now = performance.now();
    if (now - start > 3000) { fetch("/told?" + (1000 * frames) / (now - start)); return; }
    frames++;
    canvas.dispatchEvent(new WheelEvent("wheel", { deltaY: frames % 60 < 30 ? -20 : 20, cancelable: true,
      clientX: box.left + box.width / 2, clientY: box.top + box.height / 2 }));
    requestAnimationFrame(turn);
  };
  requestAnimationFrame(turn);
}, 300));
</script>
"""
CIRCLES = """<!doctype html><canvas width="600" height="600"></canvas><script>
const pen = document.querySelector("canvas").getContext("2d"), n = ROWS;
const x = Float32Array.from({ length: n }, Math.random), y = Float32Array.from({ length: n }, Math.random);
let zoom = 1;
const draw = () => {
  pen.clearRect(0, 0, 600, 600);
  for (let i = 0; i < n; i++) {
    pen.fillStyle = i % 2 ? "#0072B2" : "#D55E00";
    pen.beginPath();
    pen.arc(300 + (x[i] - 0.5) * 600 * zoom, 300 + (y[i] - 0.5) * 600 * zoom, 2, 0, 7);
    pen.fill();
  }
};
document.querySelector("canvas").addEventListener("wheel", (event) => {
  zoom *= Math.exp(-event.deltaY * 0.0016);
  draw();
});
</script>"""


def page_of(n: int) -> str:
    """The page of n made rows in 40 blobs, a quarter of them held out, with and without honesty."""
    rng = np.random.default_rng(0)
    blob = rng.integers(0, 40, size=n)
    Z = rng.normal(size=(40, 2))[blob] * 30 + rng.normal(size=(n, 2)) * 3
    Y = sp.csc_array(np.eye(CLASSES, dtype=np.uint8)[blob % CLASSES])
    names = [f"class {j}" for j in range(CLASSES)]
    data = Dataset(np.zeros((n, 1)), Y, label_names=names, ids=[f"id{i}" for i in range(n)], name=f"{n:,} made rows")
    cut = 3 * n // 4
    maps = []
    for honest in (True, False):
        null = Z[rng.permutation(n)]
        maps.append(
            tuple(Places(honest, part is null, part[:cut], part[cut:], 0.9, 0.8, 0.8, 0.125) for part in (Z, null))
        )
    facts = {"method": "none", "layout": "none", "seed": 0, "command": "python bench/map_page.py"}
    return map_page_html(map_record(maps, Y, data, Split("test", np.arange(cut), np.arange(cut, n)), facts))


def frames_per_second(chromium: str, html: str) -> float:
    """What Chromium tells of a page to which the script is added, without the policy that forbids scripts of others."""
    html = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", html) + TURNS
    told, done = [], threading.Event()

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self):
            if self.path.startswith("/told?"):
                told.append(float(self.path.partition("?")[2]))
                done.set()
            body = html.encode() if self.path == "/" else b""
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *words):
            pass

    server = HTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1280,1200"]
        command += [
            f"--user-data-dir={profile}",
            "--remote-debugging-port=0",
            f"http://127.0.0.1:{server.server_port}/",
        ]
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        try:
            if not done.wait(90):
                raise TimeoutError("Chromium told nothing within 90 s")
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            server.shutdown()
    return told[0]


def screenshots(chromium: str, html: str, stem: Path) -> None:
    """Pictures of a page at two widths, light and dark."""
    with tempfile.TemporaryDirectory() as folder:
        for theme in ("light", "dark"):
            page = Path(folder, f"{theme}.html")
            page.write_text(
                html.replace('<html lang="en">', f'<html lang="en" data-theme="{theme}">'), encoding="utf-8"
            )
            for width, height in ((1280, 1500), (390, 1900)):
                picture = stem.with_name(f"{stem.name}-{width}-{theme}.png")
                command = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
                command += [f"--screenshot={picture}", f"--window-size={width},{height}", page.as_uri()]
                subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="1,000 rows alone")
    parser.add_argument("--pictures", type=Path, help="folder for screenshots at 1280 and 390 pixels, light and dark")
    options = parser.parse_args()
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        raise SystemExit("map_page: no chromium is installed")
    rows = []
    for n in ROWS[:1] if options.quick else ROWS:
        html = page_of(n)
        if options.pictures:
            screenshots(chromium, html, options.pictures / f"map-{n}")
        ours, circles = (frames_per_second(chromium, page) for page in (html, CIRCLES.replace("ROWS", str(n))))
        enough = "yes" if ours >= LEAST else "no"
        rows.append([f"{n:,}", len(html) / 1e6, ours, circles, ours / circles, enough])
    show(__doc__, ["rows", "MB", "frames/s", "circles, frames/s", "ratio", f"at least {LEAST}"], rows)


if __name__ == "__main__":
    main()
