# SPDX-License-Identifier: BSD-3-Clause
"""A measurement as a directory.

    metrics.json          strict JSON, see encoding.py: of a run the summary only
    start_end_time.txt    "t0,t1"
    metadata.json         when, how long, format
    worker_tracking.json  samples of workers, where there are some; at the end of a
                          block only if they are not too many
    config.json           what the caller gave
    run.roast             the run itself, where it is known (save_run)

It is written under a temporary name, synced and renamed: a reader finds all of it or
nothing, and an existing directory is never replaced. The rename itself is not synced:
after a power cut a complete directory may still have its temporary name, which
remove_abandoned() corrects.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datetime import datetime

    from roastcoffea.export.encoding import Encoder
    from roastcoffea.run import Run

__all__ = ["load_measurement", "save_measurement"]

METRICS = "metrics.json"
TRACKING = "worker_tracking.json"
TIMING = "start_end_time.txt"
FORMAT = "roastcoffea_measurement_v1"
MAX_NAME_BYTES = 200
MAX_SUFFIX = 1000
MOST_SAMPLES_AT_EXIT = 10_000  # of all workers, each of some 17 values
SAVING = ".saving-"  # the temporary name, then place, process and a number
ABANDONED_AFTER_S = 24 * 60 * 60  # where it is unknown whether the process lives

Files = Mapping[str, Iterator[str]]  # name: pieces of text
Adding = Callable[[Path], object] | None  # writes more into a new directory


def save_measurement(
    metrics: Mapping[str, Any],
    t0: float,
    t1: float,
    output_dir: str | os.PathLike[str],
    measurement_name: str | None = None,
    config: Mapping[str, Any] | None = None,
) -> Path:
    """Write a measurement below output_dir and return its directory.

    Without a name it is called after the time (UTC), with a suffix if need be.
    FileExistsError when a measurement of that name is there.
    """
    from roastcoffea.metrics import Metrics

    names, add = names_of(measurement_name), None
    values, in_run_file = metrics, list[str]()
    if isinstance(metrics, Metrics):  # what was not looked at is in the run file only
        values, in_run_file = metrics._made(), metrics._unmade()
        add = metrics._run._write_unsynced
    files = _files(values, t0, t1, config, in_run_file)
    tracking = metrics.get("tracking_data")
    if isinstance(tracking, Mapping) and tracking:
        files[TRACKING] = _tracking_lines(tracking)
    return _save(files, Path(output_dir), names, add)


def save_run(
    run: Run,
    output_dir: str | os.PathLike[str],
    names: str | Iterable[str] | None = None,
    config: Mapping[str, Any] | None = None,
    *,
    at_exit: bool = False,
) -> Path:
    """The same of a run, with the run file beside; the first name that is free.

    ``at_exit`` leaves out samples of workers that take long to write as text."""
    from roastcoffea.metrics import LARGE

    if names is None or isinstance(names, str):
        names = names_of(names)
    if config is not None:
        run._notes.set_document("config", dict(config))
    t0, metrics = run.t_start, run.metrics
    t1 = run.t_end or t0 + metrics.get("wall_time", 0.0)
    files = _files(metrics._summary(), t0, t1, config, LARGE)
    if not (at_exit and run._samples_taken() > MOST_SAMPLES_AT_EXIT):
        tracking = metrics["tracking_data"]
        if tracking:
            files[TRACKING] = _tracking_lines(tracking)
    return _save(files, Path(output_dir), names, run._write_unsynced)


def _save(files: Files, folder: Path, names: Iterable[str], add: Adding = None) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    written = _write_beside(folder, files, add)
    try:
        return _move(written, folder, names)
    except BaseException:
        import shutil

        shutil.rmtree(written, ignore_errors=True)
        raise


def load_measurement(
    measurement_path: str | os.PathLike[str],
) -> tuple[dict[str, Any], float, float]:
    """(metrics, t0, t1) of a directory that save_measurement() or 0.1.2 wrote.

    Records and samples, which metrics.json does not repeat, are read from the run file
    when they are first used.
    """
    from roastcoffea.export.decoding import decode_document, in_run_file

    folder = Path(measurement_path)
    try:
        document, t0, t1 = read_files(folder)
        metrics = decode_document(document)
    except RecursionError as error:
        raise ValueError(f"{folder / METRICS}: nests too deep") from error
    names = in_run_file(document)
    if names:
        metrics = _with_run_file(metrics, folder, names)
    return metrics, t0, t1


def _with_run_file(
    metrics: dict[str, Any], folder: Path, names: Iterable[str]
) -> dict[str, Any]:
    from functools import partial

    from roastcoffea.metrics import LARGE, LazyDict
    from roastcoffea.run import open_run

    if not _run_file(folder).is_file():
        return metrics
    large = open_run(folder).metrics
    known = (name for name in names if name in LARGE and name not in metrics)
    return LazyDict(metrics, {name: partial(large.get, name) for name in known})


def read_files(folder: Path) -> tuple[dict[str, Any], float, float]:
    """(metrics.json as it is, t0, t1)."""
    import json

    if not folder.is_dir():
        raise FileNotFoundError(f"Measurement directory not found: {folder}")
    for what, name in (("Metrics", METRICS), ("Timing", TIMING)):
        if not (folder / name).is_file():
            raise FileNotFoundError(f"{what} file not found: {folder / name}")
    t0, t1 = _read_timing(folder / TIMING)
    path = folder / METRICS
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        text = f"{path}: {error.msg}"
        raise json.JSONDecodeError(text, error.doc, error.pos) from None
    if not isinstance(document, dict):
        raise ValueError(f"Metrics in {folder / METRICS} are no JSON object")
    return document, t0, t1


def _read_timing(path: Path) -> tuple[float, float]:
    try:
        t0, t1 = path.read_text(encoding="utf-8").strip().split(",")
        return float(t0), float(t1)
    except ValueError as error:
        raise ValueError(f"Invalid timing format in {path}: {error}") from error


# ---- names ---------------------------------------------------------------------------


def names_of(name: str | None) -> Iterable[str]:
    """The names to try for a measurement; ValueError for an invalid name."""
    if name is None:
        return _automatic_names()
    _check_name(name)
    return [name]


def _check_name(name: str) -> None:
    if not isinstance(name, str):
        raise TypeError(f"measurement_name is a str, not {name!r}")
    bad = name in ("", ".") or ".." in name or "\0" in name or "/" in name
    if bad or os.sep in name or len(os.fsencode(name)) > MAX_NAME_BYTES:
        raise ValueError(
            f"measurement_name {name[:MAX_NAME_BYTES]!r} does not name one directory:"
            f" no separator, no '..', 1 to {MAX_NAME_BYTES} bytes"
        )


def _automatic_names() -> Iterator[str]:
    from datetime import UTC, datetime

    name = datetime.now(UTC).strftime("%Y-%m-%d_%H-%M-%S")
    yield name
    for number in range(2, MAX_SUFFIX):
        yield f"{name}_{number}"


# ---- contents ------------------------------------------------------------------------


def _files(
    metrics: Mapping[str, Any],
    t0: float,
    t1: float,
    config: Mapping[str, Any] | None,
    in_run_file: Sequence[str],
) -> dict[str, Iterator[str]]:
    """{name: pieces of text}, which are made while they are written."""
    from datetime import UTC, datetime

    from roastcoffea.export.encoding import Encoder

    if not isinstance(metrics, Mapping):
        raise TypeError(f"metrics is a dict, not {metrics!r:.80}")
    encoder = Encoder()
    metadata = {
        "timestamp": datetime.now(UTC).isoformat(),
        "elapsed_time_seconds": encoder.plain(float(t1) - float(t0)),
        "format": FORMAT,
    }
    files = {
        METRICS: _object(encoder.entries(metrics, in_run_file)),
        TIMING: iter([f"{t0},{t1}\n"]),
        "metadata.json": _object_lines(metadata),
    }
    if config is not None:
        files["config.json"] = _object_lines(Encoder().plain(dict(config)))
    return files


def _object_lines(values: Mapping[str, Any]) -> Iterator[str]:
    """A JSON object with one line per key."""
    from roastcoffea.export.encoding import dumps

    return _object((key, [dumps(value)]) for key, value in values.items())


def _object(entries: Iterable[tuple[str, Iterable[str]]]) -> Iterator[str]:
    """The same for values that are pieces of JSON."""
    from roastcoffea.export.encoding import dumps

    before = "{\n"
    for key, pieces in entries:
        yield f"{before}  {dumps(key)}: "
        yield from pieces
        before = ",\n"
    yield "{}\n" if before == "{\n" else "\n}\n"


def _tracking_lines(tracking: Mapping[str, Any]) -> Iterator[str]:
    """Samples as objects with named values, times in UTC."""
    from roastcoffea import _core
    from roastcoffea.export.encoding import Encoder, dumps, is_series, is_times

    encoder = Encoder()
    value_keys = _core.series_value_keys()

    def pieces(name: str, series: Any) -> Iterable[str]:
        if is_times(series):
            return [dumps(_samples(encoder, series.items(), "worker_count"))]
        if not is_series(series):
            return [dumps(encoder.plain(series))]
        key = value_keys.get(name, "value")
        return _object(
            (shown, [dumps(_samples(encoder, series[worker], key))])
            for shown, worker in encoder.names(series)
        )

    return _object(
        (str(name), pieces(name, series)) for name, series in tracking.items()
    )


def _samples(
    encoder: Encoder, pairs: Iterable[tuple[datetime, Any]], key: str
) -> list[dict[str, Any]]:
    from datetime import UTC

    return [
        {
            # a naive time has no zone that could be converted
            "timestamp": (t.astimezone(UTC) if t.tzinfo else t).isoformat(),
            key: encoder.plain(value),
        }
        for t, value in pairs
    ]


# ---- writing -------------------------------------------------------------------------


def _write_beside(folder: Path, files: Files, add: Adding) -> Path:
    """A new directory in folder with the files, all of it on disk."""
    import secrets
    import shutil

    from roastcoffea.progress import shown

    temporary = folder / f"{SAVING}{_place()}-{os.getpid()}-{secrets.token_hex(8)}"
    temporary.mkdir()  # not mkdtemp(): others may read it, as the umask says
    try:
        for name, pieces in files.items():
            with open(temporary / name, "x", encoding="utf-8") as file:
                file.writelines(shown(pieces, name))
        if add is not None:
            add(_run_file(temporary))
        _sync([temporary, *temporary.iterdir()])
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    return temporary


def _run_file(folder: Path) -> Path:
    from roastcoffea._core import RUN_NAME

    return folder / RUN_NAME


def _move(written: Path, folder: Path, names: Iterable[str]) -> Path:
    """Rename to the first name that is free; rename() itself never replaces files."""
    name = ""
    for name in names:
        try:
            os.rename(written, folder / name)
        except OSError as error:
            if error.errno not in (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR):
                raise
        else:
            return folder / name
    raise FileExistsError(
        f"Measurement already exists: {folder / name} (choose another name)"
    )


def _sync(paths: list[Path]) -> None:
    """All at once: a slow disk takes seconds for each."""
    from concurrent.futures import ThreadPoolExecutor

    try:
        with ThreadPoolExecutor(len(paths)) as pool:
            list(pool.map(_sync_one, paths))  # raises the first error
    except RuntimeError:  # no more threads, or the main one has ended
        for path in paths:
            _sync_one(path)


def _sync_one(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:  # some file systems, AFS for one, cannot sync folders
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(handle)


# ---- what a killed process left ------------------------------------------------------


def remove_abandoned(folder: Path) -> None:
    """Remove temporary directories of killed processes; name those that are complete,
    which a power cut may have left."""
    import shutil

    for left in folder.glob(f"{SAVING}*"):
        with contextlib.suppress(OSError):
            if not _is_abandoned(left):
                continue
            if _is_complete(left):
                _move(left, folder, names_of(None))
            else:
                shutil.rmtree(left, ignore_errors=True)


def _place() -> str:
    """Where process ids have a meaning: this host, and its namespace."""
    import zlib
    from socket import gethostname

    place = gethostname()
    with contextlib.suppress(OSError):
        place += os.readlink("/proc/self/ns/pid")
    return f"{zlib.crc32(place.encode()):08x}"


def _is_abandoned(left: Path) -> bool:
    import time

    about = left.lstat()
    if not left.is_dir() or about.st_uid != os.geteuid():
        return False
    place, _, rest = left.name.removeprefix(SAVING).partition("-")
    pid = rest.partition("-")[0]
    if place != _place() or not pid.isdecimal():
        return time.time() - about.st_mtime > ABANDONED_AFTER_S
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    return False


def _is_complete(left: Path) -> bool:
    """Whether the run in it can be read to its end."""
    from roastcoffea import _core

    try:
        found = _core.open_run(_run_file(left)).info() or {}
    except Exception:  # cut, or not there yet
        return False
    return bool(found.get("ended")) and not found.get("partial")
