"""Metafiles (EMF, WMF), the vector pictures of Office files, drawn by LibreOffice: an external program.

LibreOffice lays a metafile on a page of a PDF. It runs in a process of its own, with limits on time and memory and a
new profile, which has no macros and no other settings of its user; the file that it is given names no other file.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import zlib
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

PROGRAM = "soffice"
INSTALL_HINT = (
    "Drawing EMF and WMF needs LibreOffice: apt install libreoffice-draw-nogui (Debian, Ubuntu), brew install --cask "
    "libreoffice (macOS)."
)
_EMF_HEAD, _EMF_SIGNATURE, _EMF_SIGNATURE_AT = b"\x01\x00\x00\x00", b" EMF", 40
_WMF_HEADS = (b"\xd7\xcd\xc6\x9a", b"\x01\x00\x09\x00", b"\x02\x00\x09\x00")
"""First bytes of a placeable WMF, and of one in memory or on disk."""
_GZIP_HEAD = b"\x1f\x8b"
"""Of EMZ and WMZ, which are compressed."""
_MAX_BYTES = 20_000_000
_MAX_SECONDS = 30
"""Processor time for one picture; an ordinary one takes half a second."""
_MAX_WAIT_SECONDS = 4 * _MAX_SECONDS
_MAX_MEMORY_KILOBYTES = 4_000_000
_MAX_FILE_BLOCKS = 200_000
"""Blocks of 512 bytes of a file that it writes."""
_BOUNDED_COMMAND = (
    f"ulimit -t {_MAX_SECONDS}; ulimit -v {_MAX_MEMORY_KILOBYTES}; ulimit -f {_MAX_FILE_BLOCKS}; ulimit -c 0; "
    'exec 3<&0 </dev/null; (cat <&3; rm -rf -- "$0"; kill -KILL 0) & exec "$@" 3<&-'
)
"""Runs a program within bounds. Its standard input is a pipe that nothing is written to: it closes when this process
ends, also by `kill -9`, and then the folder ($0) is removed and the program ended with all that it started.
"""
_PASSED_ON = ("PATH", "LANG", "LC_ALL", "TMPDIR")
"""Variables that the program gets: none of them is a secret."""
_DRAWN_DPI = 200
_MAX_DRAWN_PIXELS = 20_000_000
_MARGIN_PIXELS = 8
_MIN_SHADES = 8
"""Difference from white, of 255, from which a pixel belongs to the picture."""


def is_installed() -> bool:
    return shutil.which(PROGRAM) is not None


def describe_drawing() -> str:
    """Return a line for `argot doctor` on whether metafiles are drawn here."""
    return "LibreOffice draws them" if is_installed() else f"not drawn. {INSTALL_HINT}"


def is_metafile(data: bytes) -> bool:
    """Return whether these bytes are an EMF or WMF, compressed or not."""
    head = _unpack(data, _EMF_SIGNATURE_AT + len(_EMF_SIGNATURE)) if data.startswith(_GZIP_HEAD) else data
    if head.startswith(_EMF_HEAD):
        return head[_EMF_SIGNATURE_AT:].startswith(_EMF_SIGNATURE)
    return head.startswith(_WMF_HEADS)


def draw_metafile(data: bytes) -> Image | None:
    """Return a metafile as a picture; None if LibreOffice is not installed, fails, or exceeds the bounds."""
    unpacked = _unpack(data, _MAX_BYTES + 1) if data.startswith(_GZIP_HEAD) else data
    if len(unpacked) > _MAX_BYTES or not is_installed():
        return None
    try:
        with TemporaryDirectory(prefix="argot-metafile-", ignore_cleanup_errors=True) as name:
            page = _convert(unpacked, Path(name))
    except OSError:  # no room for it
        return None
    return _draw_page(page) if page else None


def _unpack(data: bytes, most: int) -> bytes:
    try:
        return zlib.decompressobj(wbits=31).decompress(data, most)
    except zlib.error:
        return b""


def _convert(data: bytes, folder: Path) -> bytes:
    """Return the metafile as PDF; empty if the program fails, or does not end in time."""
    source, page = folder / ("picture.emf" if data.startswith(_EMF_HEAD) else "picture.wmf"), folder / "picture.pdf"
    source.write_bytes(data)
    return page.read_bytes() if _run_program(source, folder) and page.is_file() else b""


def _run_program(source: Path, folder: Path) -> bool:
    """Convert a file to a PDF in this folder; return whether the program ended in time and without a fault."""
    options = ("--headless", "--norestore", f"-env:UserInstallation={(folder / 'profile').as_uri()}")
    command = [PROGRAM, *options, "--convert-to", "pdf", "--outdir", str(folder), str(source)]
    with subprocess.Popen(  # noqa: S603  (the shell only sets the bounds; the file is an argument)
        ["/bin/sh", "-c", _BOUNDED_COMMAND, str(folder), *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        # It starts further processes, which end with it.
        start_new_session=True,
        env={**{name: os.environ[name] for name in _PASSED_ON if name in os.environ}, "HOME": str(folder)},
    ) as process:
        try:
            return process.wait(_MAX_WAIT_SECONDS) == 0
        except subprocess.TimeoutExpired:
            return False
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def _draw_page(data: bytes) -> Image | None:
    """Return the first page of a PDF as a picture, without the white around it."""
    import pypdfium2
    from PIL import Image, ImageChops

    try:
        page = pypdfium2.PdfDocument(data)[0]
        width, height = page.get_size()
        scale = min(_DRAWN_DPI / 72, (_MAX_DRAWN_PIXELS / max(width * height, 1.0)) ** 0.5)
        picture: Image.Image = page.render(scale=scale).to_pil().convert("RGB")
    except (pypdfium2.PdfiumError, ValueError):
        return None
    white = Image.new("RGB", picture.size, "white")
    shades = ImageChops.difference(picture, white).convert("L").point(lambda shade: 255 if shade >= _MIN_SHADES else 0)
    if (box := shades.getbbox()) is None:
        return None
    left, top, right, bottom = box
    return picture.crop(
        (
            max(0, left - _MARGIN_PIXELS),
            max(0, top - _MARGIN_PIXELS),
            min(picture.width, right + _MARGIN_PIXELS),
            min(picture.height, bottom + _MARGIN_PIXELS),
        )
    )
