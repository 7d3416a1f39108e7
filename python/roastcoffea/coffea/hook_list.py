# SPDX-License-Identifier: BSD-3-Clause
"""The names of coffea, uproot and others that are hooked.

docs/hooks.md has the purpose of each, include/roast/hooks.def what is lost without it.
"""

from __future__ import annotations

from typing import NamedTuple

from .. import _probe

PLAIN, METHOD, CLASS, PROPERTY = range(4)  # how it is called
PARQUET = "pyarrow.parquet"  # not imported by coffea itself

NUMBER = {name: number for number, name, *_ in _probe.hooks()}

# Hooks that chunks of the other format do not need, as bits.
OF_PARQUET = sum(1 << number for name, number in NUMBER.items() if "parquet" in name)
OF_ROOT = sum(
    1 << NUMBER[name]
    for name in (
        *("open", "from_root", "extract_root", "source", "chunk_wait"),
        *("baskets", "submit", "pages", "clusters", "page_lists"),
    )
)


class Place(NamedTuple):
    """Where a hook goes: an attribute of a module or class, which may not exist."""

    name: str  # of the hook
    module: str
    owner: str  # a class in it; "" for the module itself
    attribute: str
    binding: int


EXECUTOR = "coffea.processor.executor"
FACTORY = "coffea.nanoevents.factory"
MAPPING = "coffea.nanoevents.mapping"
UPROOT_MAPPING = (f"{MAPPING}.uproot", "UprootSourceMapping")
PARQUET_MAPPING = (f"{MAPPING}.parquet", "ParquetSourceMapping")
TBRANCH = "uproot.behaviors.TBranch"
EVENTS = "NanoEventsFactory"
NTUPLE = ("uproot.models.RNTuple", "Model_ROOT_3a3a_RNTuple")
OPENER = "TrivialParquetOpener.UprootLikeShim"
WRITABLE = "uproot.writing.writable"

PLACES = (
    Place("find_and_load", "_frozen_importlib", "", "_find_and_load", PLAIN),
    Place("open", "uproot", "", "open", PLAIN),
    Place("parquet_open", PARQUET, "ParquetFile", "__init__", METHOD),
    Place("from_root", FACTORY, EVENTS, "from_root", CLASS),
    Place("from_parquet", FACTORY, EVENTS, "from_parquet", CLASS),
    Place("close", "uproot.reading", "ReadOnlyDirectory", "__exit__", METHOD),
    Place("close", EXECUTOR, "ParquetFileContext", "__exit__", METHOD),
    Place("events", FACTORY, EVENTS, "events", METHOD),
    Place("buffer", f"{MAPPING}.base", "BaseSourceMapping", "__getitem__", METHOD),
    Place("extract_root", *UPROOT_MAPPING, "extract_column", METHOD),
    Place("extract_parquet", *PARQUET_MAPPING, "extract_column", METHOD),
    Place("parquet_read", f"{MAPPING}.parquet", OPENER, "read", METHOD),
    Place("baskets", TBRANCH, "", "_ranges_or_baskets_to_arrays", PLAIN),
    Place("submit", "uproot.source.futures", "TrivialExecutor", "submit", METHOD),
    Place("chunk_wait", "uproot.source.chunk", "Chunk", "wait", METHOD),
    Place("pages", *NTUPLE, "read_locator", METHOD),
    Place("clusters", *NTUPLE, "read_cluster_range", METHOD),
    Place("page_lists", *NTUPLE, "page_list_envelopes", PROPERTY),
    Place("write", "uproot", "", "create", PLAIN),
    Place("write", "uproot", "", "recreate", PLAIN),
    Place("write", "uproot", "", "update", PLAIN),
    Place("write", "uproot.sink.file", "FileSink", "close", METHOD),
    Place("write", WRITABLE, "WritableTree", "extend", METHOD),
    Place("write", WRITABLE, "WritableNTuple", "extend", METHOD),
    Place("write", WRITABLE, "WritableDirectory", "update", METHOD),
    Place("write", WRITABLE, "WritableDirectory", "mktree", METHOD),
    Place("write", WRITABLE, "WritableDirectory", "mkrntuple", METHOD),
    Place("write", "awkward", "", "to_parquet", PLAIN),
    Place("write", PARQUET, "", "write_table", PLAIN),
    Place("write", PARQUET, "ParquetWriter", "write_table", METHOD),
    Place("write", PARQUET, "ParquetWriter", "close", METHOD),
)
