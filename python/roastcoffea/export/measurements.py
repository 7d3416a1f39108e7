# SPDX-License-Identifier: BSD-3-Clause
"""A measurement as a directory.

    metrics.json          strict JSON, see encoding.py
    start_end_time.txt    "t0,t1"
    metadata.json         when, how long, format
    worker_tracking.json  samples of workers, where there are some
    config.json           what the caller gave
    run.roast             the run itself, where it is known (save_run)

It is written under a temporary name and renamed: a reader finds all of it or nothing,
and an existing directory is never replaced.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datetime import datetime

    from roastcoffea.export.encoding import Encoder
    from roastcoffea.run import Run

__all__ = ["load_measurement", "save_measurement"]

METRICS = "metrics.json"
TIMING = "start_end_time.txt"
FORMAT = "roastcoffea_measurement_v1"
MAX_NAME_BYTES = 200
MAX_SUFFIX = 1000

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
    names = names_of(measurement_name)
    return _save(_files(metrics, t0, t1, config), Path(output_dir), names)


def save_run(
    run: Run,
    output_dir: str | os.PathLike[str],
    names: str | Iterable[str] | None = None,
    config: Mapping[str, Any] | None = None,
) -> Path:
    """The same of a run, with the run file beside; the first name that is free."""
    from roastcoffea._core import RUN_NAME
    from roastcoffea.metrics import streamed

    if names is None or isinstance(names, str):
        names = names_of(names)
    if config is not None:
        run._notes.set_document("config", dict(config))
    t0, metrics = run.t_start, run.metrics
    t1 = run.t_end or t0 + metrics.get("wall_time", 0.0)
    files = _files(streamed(run), t0, t1, config)
    return _save(files, Path(output_dir), names, lambda at: run.save(at / RUN_NAME))


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
    """(metrics, t0, t1) of a directory that save_measurement() or 0.1.2 wrote."""
    from roastcoffea.export.decoding import decode_document

    try:
        document, t0, t1 = read_files(Path(measurement_path))
        return decode_document(document), t0, t1
    except RecursionError as error:
        raise ValueError(f"{measurement_path}/{METRICS}: nests too deep") from error


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
    metrics: Mapping[str, Any], t0: float, t1: float, config: Mapping[str, Any] | None
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
        METRICS: _object(encoder.entries(metrics)),
        TIMING: iter([f"{t0},{t1}\n"]),
        "metadata.json": _object_lines(metadata),
    }
    if config is not None:
        files["config.json"] = _object_lines(Encoder().plain(dict(config)))
    tracking = metrics.get("tracking_data")
    if isinstance(tracking, Mapping) and tracking:
        files["worker_tracking.json"] = _tracking_lines(tracking)
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

    temporary = folder / f".saving-{secrets.token_hex(8)}"
    temporary.mkdir()  # not mkdtemp(): others may read it, as the umask says
    try:
        for name, pieces in files.items():
            with open(temporary / name, "x", encoding="utf-8") as file:
                file.writelines(pieces)
                file.flush()
                os.fsync(file.fileno())
        if add is not None:
            add(temporary)
        _sync(temporary)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    return temporary


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
            _sync(folder)
            return folder / name
    raise FileExistsError(
        f"Measurement already exists: {folder / name} (choose another name)"
    )


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:  # some file systems, AFS for one, cannot
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(handle)
