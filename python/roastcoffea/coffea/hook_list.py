# SPDX-License-Identifier: BSD-3-Clause
"""Where hooks go: the names of coffea, uproot and others that are looked at.

docs/hooks.md says what each is for; include/roast/hooks.def, what is lost without it.
"""

from __future__ import annotations

from typing import NamedTuple

from .. import _probe

PLAIN, METHOD, CLASS, PROPERTY = range(4)  # how it is called
PARQUET = "pyarrow.parquet"  # imported only by those who need it

NUMBER = {name: number for number, name, *_ in _probe.hooks()}

# What chunks of the other format can do without, as bits.
OF_PARQUET = sum(1 << number for name, number in NUMBER.items() if "parquet" in name)
OF_ROOT = sum(
    1 << NUMBER[name]
    for name in (
        *("open", "from_root", "extract_root", "source", "chunk_wait"),
        *("baskets", "submit", "pages", "clusters", "page_lists"),
    )
)


class Place(NamedTuple):
    """Where a hook goes: an attribute of a module or class that may not be there."""

    name: str  # of the hook
    module: str
    owner: str  # a class in it; "" for the module itself
    attribute: str
    binding: int


PLACES = (
    Place("find_and_load", "_frozen_importlib", "", "_find_and_load", PLAIN),
    Place("open", "uproot", "", "open", PLAIN),
    Place("parquet_open", PARQUET, "ParquetFile", "__init__", METHOD),
    Place(
        "from_root",
        "coffea.nanoevents.factory",
        "NanoEventsFactory",
        "from_root",
        CLASS,
    ),
    Place(
        "from_parquet",
        "coffea.nanoevents.factory",
        "NanoEventsFactory",
        "from_parquet",
        CLASS,
    ),
    Place("close", "uproot.reading", "ReadOnlyDirectory", "__exit__", METHOD),
    Place(
        "close",
        "coffea.processor.executor",
        "ParquetFileContext",
        "__exit__",
        METHOD,
    ),
    Place("events", "coffea.nanoevents.factory", "NanoEventsFactory", "events", METHOD),
    Place(
        "buffer",
        "coffea.nanoevents.mapping.base",
        "BaseSourceMapping",
        "__getitem__",
        METHOD,
    ),
    Place(
        "extract_root",
        "coffea.nanoevents.mapping.uproot",
        "UprootSourceMapping",
        "extract_column",
        METHOD,
    ),
    Place(
        "extract_parquet",
        "coffea.nanoevents.mapping.parquet",
        "ParquetSourceMapping",
        "extract_column",
        METHOD,
    ),
    Place(
        "parquet_read",
        "coffea.nanoevents.mapping.parquet",
        "TrivialParquetOpener.UprootLikeShim",
        "read",
        METHOD,
    ),
    Place(
        "baskets",
        "uproot.behaviors.TBranch",
        "",
        "_ranges_or_baskets_to_arrays",
        PLAIN,
    ),
    Place("submit", "uproot.source.futures", "TrivialExecutor", "submit", METHOD),
    Place("chunk_wait", "uproot.source.chunk", "Chunk", "wait", METHOD),
    Place(
        "pages",
        "uproot.models.RNTuple",
        "Model_ROOT_3a3a_RNTuple",
        "read_locator",
        METHOD,
    ),
    Place(
        "clusters",
        "uproot.models.RNTuple",
        "Model_ROOT_3a3a_RNTuple",
        "read_cluster_range",
        METHOD,
    ),
    Place(
        "page_lists",
        "uproot.models.RNTuple",
        "Model_ROOT_3a3a_RNTuple",
        "page_list_envelopes",
        PROPERTY,
    ),
    Place("write", "uproot", "", "create", PLAIN),
    Place("write", "uproot", "", "recreate", PLAIN),
    Place("write", "uproot", "", "update", PLAIN),
    Place("write", "uproot.sink.file", "FileSink", "close", METHOD),
    Place("write", "uproot.writing.writable", "WritableTree", "extend", METHOD),
    Place("write", "uproot.writing.writable", "WritableNTuple", "extend", METHOD),
    Place("write", "uproot.writing.writable", "WritableDirectory", "update", METHOD),
    Place("write", "uproot.writing.writable", "WritableDirectory", "mktree", METHOD),
    Place("write", "uproot.writing.writable", "WritableDirectory", "mkrntuple", METHOD),
    Place("write", "awkward", "", "to_parquet", PLAIN),
    Place("write", PARQUET, "", "write_table", PLAIN),
    Place("write", PARQUET, "ParquetWriter", "write_table", METHOD),
    Place("write", PARQUET, "ParquetWriter", "close", METHOD),
)
