"""Makes the pictures of docs/looking-at-modules.md, from pages in Chromium.

    python docs/pictures/make.py [NAME ...]

It needs the extra `browser` and Debian's chromium. `softmax.hlo` and `block.hlo` are programs of
the project's own as JAX 0.10.2 lowers them, the second one out of a dump. The module of `overview`
is too large for the repository and comes from the corpus (HLOTOOL_CORPUS), without which that
picture stays as it is.
"""

# ruff: noqa: INP001 - a script, no module of a package

from __future__ import annotations

import base64
import os
import shutil
import struct
import sys
import tempfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy
from playwright.sync_api import Browser, Page, sync_playwright

from hlotool.cli.driver import main

HERE = Path(__file__).resolve().parent
WIDTH, HEIGHT = 1280, 800
COLOURS = 256
FREQUENT = 64
MOST_BYTES = 150_000
PIXELS = """async (picture) => {
  const image = await createImageBitmap(await (await fetch(picture)).blob());
  const canvas = new OffscreenCanvas(image.width, image.height), context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, image.width, image.height);
  let text = "";
  for (let at = 0; at < data.length; at += 32768) {
    text += String.fromCharCode(...data.subarray(at, at + 32768));
  }
  return btoa(text);
}"""


def command(*arguments: str | Path) -> None:
    """Runs `hlotool` with these arguments; raises `SystemExit` where it fails."""
    code = main([str(argument) for argument in arguments])
    if code not in {0, 1}:
        raise SystemExit(f"hlotool {arguments[0]} ended with {code}")


def softmax(folder: Path) -> Path:
    """Makes the page of softmax as JAX lowers it."""
    command("graph", HERE / "softmax.hlo", "-o", folder / "softmax.html")
    return folder / "softmax.html"


def fused_softmax(folder: Path) -> Path:
    """Makes the page of the same after the passes for CPUs."""
    fused = folder / "fused.hlo"
    command("opt", HERE / "softmax.hlo", "--platform=cpu", "-o", fused)
    command("graph", fused, "-o", folder / "fused.html")
    return folder / "fused.html"


def block(folder: Path) -> Path:
    """Makes the page of a transformer block after the passes for CPUs."""
    fused = folder / "block.hlo"
    command("opt", HERE / "block.hlo", "--platform=cpu", "-o", fused)
    command("graph", fused, "-o", folder / "block.html")
    return folder / "block.html"


def passes(folder: Path) -> Path:
    """Makes the page over the passes that the block goes through."""
    page = folder / "passes.html"
    command("opt", HERE / "block.hlo", "--platform=cpu", "--stage=html", "-o", page)
    return page


def dump(folder: Path) -> Path:
    """Makes the page over a dump of the same run."""
    flags = [f"--xla_dump_to={folder / 'dump'}", "--xla_dump_hlo_pass_re=.*"]
    flags += ["--xla_dump_fusion_visualization", "-o", os.devnull]
    command("opt", HERE / "block.hlo", "--platform=cpu", *flags)
    command("explore", folder / "dump", "-o", folder / "dump.html")
    return folder / "dump.html"


def difference(folder: Path) -> Path:
    """Makes the page over softmax before and after the simplifier."""
    simple = folder / "simplified.hlo"
    command("opt", HERE / "softmax.hlo", "--passes=algsimp,dce", "-o", simple)
    page = folder / "diff.html"
    command("diff", "--html", "--quiet", "-o", page, HERE / "softmax.hlo", simple)
    return page


def inception(folder: Path) -> Path | None:
    """Makes the page of a large network, where there is a corpus that has it."""
    corpus = Path(os.environ.get("HLOTOOL_CORPUS", HERE.parents[2] / "shared" / "corpus"))
    module = corpus / "tf" / "keras_inceptionv3.opt.hlo"
    if not module.is_file():
        return None
    command("graph", module, "-o", folder / "inception.html")
    return folder / "inception.html"


@dataclass(frozen=True)
class Picture:
    """A page, what stands behind the `#` of its address, and what is done in it then."""

    page: Callable[[Path], Path | None]
    address: str = ""
    act: Callable[[Page], None] = lambda _: None


def press(*keys: str) -> Callable[[Page], None]:
    """Returns an action that presses keys, one after the other."""

    def act(page: Page) -> None:
        for key in keys:
            page.keyboard.press(key)
            settle(page)

    return act


def click(text: str) -> Callable[[Page], None]:
    """Returns an action that clicks on the entry of a directory's list with a text."""

    def act(page: Page) -> None:
        page.locator("#directory .entry", has_text=text).first.click()
        settle(page)

    return act


PICTURES = {
    "softmax": Picture(softmax),
    "softmax-fused": Picture(fused_softmax),
    "block": Picture(block),
    "selection": Picture(block, address="#exp.0"),
    "overlay": Picture(block, address="#&overlay=live%20memory", act=press("0")),
    "passes": Picture(passes, act=press("k", "k")),
    "decision": Picture(passes, act=press("J", "J")),
    "memory": Picture(dump, act=click("Memory over time")),
    "difference": Picture(difference),
    "overview": Picture(inception),
}


def settle(page: Page) -> None:
    """Waits until the picture stands still."""
    busy = "!hlotool.ready || hlotool.camera.moving || Boolean(hlotool.passes?.busy)"
    page.wait_for_timeout(250)
    while page.evaluate(busy):
        page.wait_for_timeout(50)
    page.wait_for_timeout(250)


def taken(browser: Browser, picture: Picture, path: Path) -> bytes:
    """Returns a picture of a page as a PNG file with a palette."""
    page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
    page.goto(path.as_uri() + picture.address)
    settle(page)
    picture.act(page)
    page.mouse.move(WIDTH - 2, HEIGHT - 2)
    settle(page)
    shot = base64.b64encode(page.screenshot()).decode("ascii")
    page.goto("about:blank")
    pixels = base64.b64decode(page.evaluate(PIXELS, f"data:image/png;base64,{shot}"))
    page.close()
    return with_palette(numpy.frombuffer(pixels, numpy.uint8).reshape(HEIGHT, WIDTH, 4)[:, :, :3])


def with_palette(pixels: numpy.ndarray) -> bytes:
    """Returns a PNG file of `uint8[height,width,3]` in 256 of its colours, or fewer.

    These are the most frequent ones that are not too near to one another; every other colour
    becomes the nearest of them.
    """
    height, width, _ = pixels.shape
    packed = pixels.reshape(-1, 3).astype(numpy.int64) @ numpy.array([65536, 256, 1])
    found, inverse, counts = numpy.unique(packed, return_inverse=True, return_counts=True)
    colours = numpy.stack([found >> 16, found >> 8 & 255, found & 255], axis=1)
    palette = spread(colours[numpy.argsort(-counts, kind="stable")])
    distance = ((colours[:, None, :] - palette[None, :, :]) ** 2).sum(axis=2)
    numbers = distance.argmin(axis=1).astype(numpy.uint8)[inverse].reshape(height, width)
    rows = numpy.hstack([numpy.zeros((height, 1), numpy.uint8), numbers])
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        chunk(kind, data)
        for kind, data in (
            (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
            (b"PLTE", palette.astype(numpy.uint8).tobytes()),
            (b"IDAT", zlib.compress(rows.tobytes(), 9)),
            (b"IEND", b""),
        )
    )


def spread(colours: numpy.ndarray) -> numpy.ndarray:
    """Returns 256 or fewer of `[colours,3]`: the first ones, then such as are near to none."""
    for least in range(0, 3 * 256**2, 9):
        left = colours
        chosen: list[numpy.ndarray] = []
        while len(left) and len(chosen) <= COLOURS:
            chosen.append(left[0])
            distance = ((left - left[0]) ** 2).sum(axis=1)
            left = left[distance > (0 if len(chosen) <= FREQUENT else least)]
        if len(chosen) <= COLOURS:
            break
    return numpy.array(chosen)


def chunk(kind: bytes, data: bytes) -> bytes:
    """Returns a part of a PNG file: length, kind, data, checksum."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def make(names: list[str]) -> None:
    """Makes the pictures with these names, or all of them."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        raise SystemExit("chromium is not installed (Debian: apt-get install chromium)")
    with sync_playwright() as started, tempfile.TemporaryDirectory() as folder:
        browser = started.chromium.launch(
            executable_path=program, args=["--headless", "--no-sandbox", "--disable-gpu"]
        )
        for name in names or PICTURES:
            picture = PICTURES[name]
            place = Path(folder, name)
            place.mkdir()
            path = picture.page(place)
            if path is None:
                sys.stderr.write(f"{name}: left as it is, there is no corpus\n")
                continue
            data = taken(browser, picture, path)
            if len(data) > MOST_BYTES:
                raise SystemExit(f"{name}.png would have {len(data):,} bytes")
            (HERE / f"{name}.png").write_bytes(data)
            sys.stderr.write(f"{name}.png: {len(data):,} bytes\n")
        browser.close()


if __name__ == "__main__":
    make(sys.argv[1:])
