# SPDX-License-Identifier: BSD-3-Clause
"""A collector as the front of its latest run: everything is passed on to it.

Before the first block there is none: attributes are empty then, and calls say so.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from roastcoffea.run import NOT_ENDED, NOT_STARTED, Run


class LatestRun:
    """What users hand to a collector and ask of it."""

    def __init__(self) -> None:
        self._run: Run | None = None

    # ---- what users hand over ------------------------------------------------

    @property
    def run(self) -> Run:
        """The run of the latest block."""
        if self._run is None:
            raise RuntimeError(NOT_STARTED)
        return self._run

    def set_coffea_report(
        self, report: Any, custom_metrics: Mapping[str, Any] | None = None
    ) -> None:
        """Hand over coffea's report, ``(output, report)`` or an Ok/Err of it."""
        self.run.set_coffea_report(report, custom_metrics)

    def extract_metrics_from_output(self, output: Any) -> Any:
        """Take our key out of an output; gives the output back."""
        return self.run.extract_metrics_from_output(output)

    def set_chunk_metrics(self, chunk_metrics: Iterable[Any]) -> None:
        """Hand over records; those that are known already are not counted again."""
        self.run.set_chunk_metrics(chunk_metrics)

    def record_chunk_metrics(self, chunk_metrics: Mapping[str, Any]) -> None:
        """Hand over one record."""
        self.run.record_chunk_metrics(chunk_metrics)

    def record_section_metrics(self, section_metrics: Mapping[str, Any]) -> None:
        """Hand over one section that was measured by other means."""
        self.run.record_section_metrics(section_metrics)

    # ---- results -------------------------------------------------------------

    def get_metrics(self) -> dict[str, Any]:
        """All metrics of the run, also while it goes on."""
        return self.run.metrics

    @property
    def metrics(self) -> dict[str, Any] | None:
        """The same; None before the first block."""
        return self._run.metrics if self._run else None

    def print_summary(self) -> None:
        """Print what was measured."""
        self.run.print_summary()

    def save_measurement(
        self, output_dir: Any, measurement_name: str | None = None, config: Any = None
    ) -> Path:
        """Write a measurement directory; its path."""
        if self._run is None:
            raise RuntimeError(NOT_ENDED)
        return self.run.save_measurement(output_dir, measurement_name, config)

    def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> Path:
        """Write the run to a file, also while it goes on; its path."""
        return self.run.save(path, overwrite)

    @property
    def measurement_path(self) -> Path | None:
        """The directory that was written for ``output_dir``."""
        return self._run.measurement_path if self._run else None

    @property
    def chunk_metrics(self) -> list[dict[str, Any]]:
        """A list with a dict for every chunk record."""
        return self._run.chunk_metrics if self._run else []

    @property
    def section_metrics(self) -> list[dict[str, Any]]:
        return self._run.section_metrics if self._run else []

    @property
    def tracking_data(self) -> dict[str, Any] | None:
        """What was sampled of workers; None when nothing was."""
        return self._run.tracking_data if self._run else None

    @property
    def span_metrics(self) -> dict[Any, Any]:
        return self._run.span_metrics if self._run else {}

    @property
    def t_start(self) -> float | None:
        """When the block began, in seconds since 1970."""
        return self._run.t_start if self._run else None

    @property
    def t_end(self) -> float | None:
        """When it ended; None while it goes on."""
        return self._run.t_end if self._run else None

    def __str__(self) -> str:
        return str(self._run) if self._run else repr(self)

    def _repr_html_(self) -> str:
        if self._run:
            return self._run._repr_html_()
        import html

        return f"<pre>{html.escape(repr(self))}</pre>"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """In IPython on a terminal, where there are no cards."""
        printer.text(str(self))
