# SPDX-License-Identifier: BSD-3-Clause
"""Write the seeds of fuzz_json and fuzz_measurement: tests/fuzz/make_corpus_json.py

What a fuzzer found is kept beside the seeds, under a name that says what it broke; this
script never touches those files.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

CORPUS = Path(__file__).parent / "corpus"
DEEP = 70

TOKENS: dict[str, bytes] = {
    "empty": b"",
    "values": b'[null,true,false,0,-1,1.5,"x",{},[]]',
    "nested": b'{"a":{"b":[1,{"c":[[],{}]}]},"a":2}',
    "escapes": rb'"\"\\\/\b\f\n\r\t\u0041\u00e9\ud83d\ude00"',
    "half_pairs": rb'["\ud800","\udc00","\ud800\ud800\udc00","\ud800\n","\ud800x"]',
    "no_utf8": b'["\xff","\xc3(","\xed\xa0\x80","\xf4\x90\x80\x80","\xe2\x82"]',
    "utf8": '["é€😀"]'.encode(),
    "wholes": b"[18446744073709551615,-9223372036854775808,18446744073709551616]",
    "doubles": b"[1e22,1e23,5e-324,1.7976931348623157e308,1e999,0.1e-20]",
    "long_number": b"[" + b"9" * 5000 + b"]",
    "python": b"[NaN,Infinity,-Infinity]",
    "too_deep": b"[" * DEEP + b"]" * DEEP,
    "cut": b'{"a": [1, "b',
    "secrets": b'{"url":"x://u:p@h/f?t=1","token":[1,{"a":2}],"s":"pwd=a pwd=b"}',
    "behind": b"{} {}",
}

SECTION = {"section_name": "s", "time_delta": 2e-9, "count": 1, "self_time": 1e-9}
SECTION |= {"depth": 0, "parent": None}
OURS: dict[str, Any] = {
    "process_id": 2**64 - 1,
    "sequence": 7,
    "run_id": "00112233445566778899aabbccddeeff",
    "dataset": "d",
    "file": "x://u:p@h/f?t=1",
    "t_start": 1700000000.25,
    "t_end": 1700000001.5,
    "duration": 1.25,
    "task_time": 2.5,
    "mem_peak_kind": "exact",
    "timing": {"s": 2e-9, "mine": 0.5},
    "bytes": {"b": 3},
    "sections": [SECTION, SECTION | {"section_name": "t", "depth": 1, "parent": "s"}],
    "memory_sections": [{"section_name": "m", "memory_delta_gb": -1e-9}],
    "intervals": [["s", 0.0, 2e-9], ["b", 0.0, 1e-9], ["?", 1, 2]],
    "ladder": {"form": 1e-9, "fetch": 5e-9},
    "split": {"on_cpu": 1e-9, "runqueue": 1e-9, "fetch_wait": 2e-9, "blocked": 0},
    "branches": {"p": {"bytes": 1, "reads": 2, "seconds": 1e-9}, "q": {}},
    "accessed_branches": ["q", "p"],
    "offset_branches": ["n"],
    "accessed_bytes": 30,
    "accessed_uncompressed_bytes": 50,
    "endpoints": {"/data": {"requests": 1, "wait": 1e-9}},
    "file_metadata": {"kind": "ttree", "branch_bytes": {"p": 10, "q": 20}},
    "process": {"host": "h"},
    "custom_metrics": {"c": [1, None, "x"]},
    "unavailable": {"pid": "the events carry no such information"},
    "losses": {"intervals": 3},
    "mine": {
        "b": {"__bytes__": "QUJD"},
        "t": {"__tuple__": [1, {"__set__": [2]}]},
        "d": {"__dict__": [["k", {"__datetime__": "2025-01-01"}]]},
    },
}
OLD: dict[str, Any] = {
    "t_start": 1.0,
    "t_end": 3.0,
    "num_events": 10,
    "timing": {"a": 0.5},
    "memory": {"m": -1.5},
    "accessed_branches": {"__set__": ["p"]},
    "accessed_bytes": 3,
    "accessed_uncompressed_bytes": 5,
}
NAIVE, AWARE = "2025-01-01T05:30:00", "2025-01-01T00:00:01.5+00:00"
TRACKING = {
    "worker_counts": {NAIVE: 2, AWARE: 3, "noon": 4},
    "worker_memory": {"w": [[AWARE, 5], [NAIVE, 4], [1]]},
    "worker_last_seen": {"w": [[NAIVE, 1735689598.5]]},
    "worker_cpu": {"w": [{"timestamp": AWARE, "cpu_percent": 50.5}], "v": []},
    "worker_new": {"w": [1]},
}

DOCUMENTS: dict[str, Any] = {
    "nothing": {},
    "ours": {
        "raw_chunk_metrics": [OURS, OURS | {"sequence": 8}],
        "__roastcoffea__": {},
    },
    "old": {"raw_chunk_metrics": [OLD, OLD | {"accessed_branches": ["p", "q"]}, 3]},
    "tracking": {"tracking_data": TRACKING, "raw_chunk_metrics": [OLD]},
    "numbers": {"total_events": 1, "num_chunks": 0, "wall_time": 10.0},
    "words": {"labels": {"a": "b", "c": 1}, "custom_metrics": {"x": 1}, "y": [1.5]},
    "info": {"chunk_info": {"('f', 0, 1)": [1, 2, 3]}, "raw_span_metrics": {"x": 1}},
}


def write(folder: str, name: str, data: bytes) -> None:
    """One seed."""
    (CORPUS / folder).mkdir(parents=True, exist_ok=True)
    (CORPUS / folder / name).write_bytes(data)


if __name__ == "__main__":
    for number, (name, tokens) in enumerate(TOKENS.items()):
        write("json", name, bytes([number % 8]) + tokens)
    for name, document in DOCUMENTS.items():
        write("measurement", name, json.dumps(document).encode())
    twice = b'{"raw_chunk_metrics":[{}],"raw_chunk_metrics":[{"x":1}]}'
    write("measurement", "records_twice", twice)
    write("measurement", "cut", json.dumps(DOCUMENTS["ours"]).encode()[:900])
