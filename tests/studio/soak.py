"""Hours of watching in minutes: frames a second, answers of sliders, several browsers at once, memory over time.

`python -m tests.studio.soak --minutes 30 --browsers 4 --out FOLDER` writes samples.csv and prints what it found.
"""

from __future__ import annotations

import argparse
import csv
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.javascript import CHROMIUM, NO_CHROMIUM, Browser
from tests.studio.conftest import Served
from tests.studio.test_train_page import children

EVERY = 10.0
# Moves a slider, and measures until the answer stands in the page.
SLIDE = """const slider = document.querySelector('#what-if input[type=range]');
const times = [];
for (let k = 0; k < 200; k += 1) {
  slider.value = Number(slider.min) + ((Number(slider.max) - Number(slider.min)) * ((k * 37) % 200)) / 199;
  const began = performance.now();
  slider.dispatchEvent(new Event('input', { bubbles: true }));
  document.querySelector('#what-if .outputs').getBoundingClientRect(); // laid out
  times.push(performance.now() - began);
}
return times"""
LOOK = "return [Watch.state.drawn, performance.memory.usedJSHeapSize, performance.now()]"


def resident(pid: int) -> float:
    """MB that a process has written: pages of files count for whoever is the last to map them, and so jump."""
    try:
        words = Path(f"/proc/{pid}/smaps_rollup").read_text().split()
    except OSError:
        return 0.0
    return int(words[words.index("Private_Dirty:") + 1]) / 1024


def slope(samples: list[tuple[float, float]]) -> float:
    """MB an hour of (seconds, MB), by least squares."""
    if len(samples) < 3:
        return 0.0
    return statistics.linear_regression(*zip(*samples, strict=True)).slope * 3600


def slider_times(served: Served, browser: Browser) -> list[float]:
    """Milliseconds of 200 moves of a slider on a model of Iris."""
    from sklearn.datasets import load_iris

    found = load_iris(as_frame=True)
    frame = found.frame.assign(kind=[found.target_names[k] for k in found.target]).drop(columns="target")
    rows = served.folder / "iris.csv"
    frame.to_csv(rows, index=False)
    made = [sys.executable, "-m", "neuroplastic", "fit", str(rows), "--target", "kind", "--readable"]
    made += ["--out", str(served.folder / "models" / "iris")]
    subprocess.run(made, check=True, stdout=subprocess.DEVNULL)
    browser.go(f"{served.base}/table/iris")
    end = time.monotonic() + 120
    while not browser("return Boolean(document.querySelector('#what-if input[type=range]'))"):
        assert time.monotonic() < end, "the sliders did not come"
        time.sleep(0.2)
    times: list[float] = browser(SLIDE)
    return times


def watch(browser: Browser, base: str, seed: int) -> float:
    """Open the page with the heat map on; the seconds until its first picture."""
    began = time.monotonic()
    browser.go(f"{base}/watch/DTC?seed={seed}")
    while browser("return Watch.state.drawn") < 1:
        assert time.monotonic() - began < 120, "no picture came"
        time.sleep(0.1)
    first = time.monotonic() - began
    browser("if (!document.querySelector('#with-heat').checked) document.querySelector('#with-heat').click()")
    return first


def sample(served: Served, browsers: list[Browser], seconds: float) -> list[dict[str, float]]:
    """Rows, one every ten seconds."""
    rows, began = [], time.monotonic()
    before = [browser(LOOK) for browser in browsers]
    while time.monotonic() - began < seconds:
        time.sleep(EVERY)
        now = [browser(LOOK) for browser in browsers]
        rates = [(b[0] - a[0]) / (b[2] - a[2]) * 1000 for a, b in zip(before, now, strict=True)]
        below = children(served.process.pid)
        row = {
            "seconds": time.monotonic() - began,
            "browsers": len(browsers),
            "slowest": min(rates),
            "mean": statistics.fmean(rates),
            "server_mb": resident(served.process.pid),
            "games_mb": sum(map(resident, below)),
            "page_mb": max(entry[1] for entry in now) / 2**20,
            "load": os.getloadavg()[0],
        }
        rows.append(row)
        before = now
        print(", ".join(f"{name} {value:.1f}" for name, value in row.items()), flush=True)
    return rows


def told(rows: list[dict[str, float]], what: str) -> None:
    """Print the figures of a stretch of watching."""
    rates = [row["mean"] for row in rows]
    print(
        f"{what}: {statistics.fmean(rates):.1f} frames/s on average, {min(row['slowest'] for row in rows):.1f} at "
        f"least in ten seconds; load {statistics.fmean(row['load'] for row in rows):.1f}"
    )
    for name in ("server_mb", "games_mb", "page_mb"):
        later = [(row["seconds"], row[name]) for row in rows[len(rows) // 5 :]]
        if name == "page_mb":  # rises until it is collected: what stays is the least of each two minutes
            later = [min(later[k : k + 12], key=lambda one: one[1]) for k in range(0, len(later) - 11, 12)]
        values = [value for _, value in later]
        if len(values) < 2:
            print(f"  {name}: too short a time to tell")
            continue
        print(f"  {name}: {values[0]:.0f} to {values[-1]:.0f}, trend {slope(later):+.1f} MB an hour")


def main() -> None:
    """Run all of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--browsers", type=int, default=4)
    parser.add_argument("--out", type=Path, default=Path("studio-soak"))
    options = parser.parse_args()
    if not CHROMIUM:
        raise SystemExit(NO_CHROMIUM)
    options.out.mkdir(parents=True, exist_ok=True)
    browsers: list[Browser] = []
    with tempfile.TemporaryDirectory() as folder:
        served = Served(Path(folder))
        try:
            browsers.append(Browser())
            times = sorted(slider_times(served, browsers[0]))
            print(
                f"sliders: {times[94 * len(times) // 100]:.1f} ms at the 95th percentile, {times[-1]:.1f} at most"
            )
            print(f"first picture: {watch(browsers[0], served.base, 7):.1f} s after the page was opened")
            together = min(2.0, options.minutes / 5) * 60
            alone = sample(served, browsers, options.minutes * 60 - together)
            told(alone, "one browser")
            for seed in range(8, 7 + options.browsers):
                browsers.append(Browser())
                watch(browsers[-1], served.base, seed)
            several = sample(served, browsers, together)
            told(several, f"{options.browsers} browsers")
            with (options.out / "samples.csv").open("w", newline="") as file:
                writer = csv.DictWriter(file, list(alone[0]))
                writer.writeheader()
                writer.writerows([*alone, *several])
        finally:
            for browser in browsers:
                browser.close()
            served.close()


if __name__ == "__main__":
    main()
