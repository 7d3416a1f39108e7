# SPDX-License-Identifier: BSD-3-Clause
"""A Perfetto trace as its viewer reads it: slices, instants, counters, arrows.

Only the classes of Perfetto's protobuf are used: a slice is what lies between an event
that begins and the one that ends it on the same track, by time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as protos

Event = protos.TrackEvent
REALTIME = 1
INTERNED = {
    "category": "event_categories",
    "name": "event_names",
    "argument": "debug_annotation_names",
    "text": "debug_annotation_string_values",
}


@dataclass
class Slice:
    """A slice or an instant; one that does not end has no duration."""

    track: int
    name: str
    category: str
    start: int
    args: dict[str, Any]
    flows: set[int]
    ended_flows: set[int]
    parent: Slice | None = None
    duration: int | None = None


@dataclass
class Trace:
    tracks: dict[int, Any] = field(default_factory=dict)
    slices: list[Slice] = field(default_factory=list)
    instants: list[Slice] = field(default_factory=list)
    counters: dict[int, list[tuple[int, float]]] = field(default_factory=dict)
    open: dict[int, list[Slice]] = field(default_factory=dict)
    texts: dict[str, dict[int, str]] = field(
        default_factory=lambda: {kind: {} for kind in INTERNED}
    )

    def of(self, category: str) -> list[Slice]:
        return [each for each in self.slices if each.category == category]

    def path(self, track: int) -> list[str]:
        """The names of a track and of those above it, the uppermost first."""
        names = []
        while track:
            found = self.tracks[track]
            names.append(found.process.process_name or found.name)
            track = found.parent_uuid
        return names[::-1]

    def arrows(self) -> list[tuple[Slice, Slice]]:
        begun = {flow: each for each in self.slices for flow in each.flows}
        return [
            (begun[flow], each) for each in self.slices for flow in each.ended_flows
        ]

    def counter(self, *path: str) -> list[tuple[int, float]]:
        found = [track for track in self.counters if self.path(track) == [*path]]
        return [value for track in found for value in self.counters[track]]


def add_texts(trace: Trace, data: Any) -> None:
    for kind, name in INTERNED.items():
        for each in getattr(data, name):
            text = each.str.decode() if kind == "text" else each.name
            assert each.iid not in trace.texts[kind], "interned twice"
            trace.texts[kind][each.iid] = text


def value_of(trace: Trace, arg: Any) -> Any:
    if arg.HasField("string_value_iid"):
        return trace.texts["text"][arg.string_value_iid]
    return arg.int_value


def slice_of(trace: Trace, packet: Any) -> Slice:
    event = packet.track_event
    return Slice(
        track=event.track_uuid,
        name=trace.texts["name"][event.name_iid],
        category=trace.texts["category"][event.category_iids[0]],
        start=packet.timestamp,
        args={
            trace.texts["argument"][arg.name_iid]: value_of(trace, arg)
            for arg in event.debug_annotations
        },
        flows=set(event.flow_ids),
        ended_flows=set(event.terminating_flow_ids),
    )


def add_event(trace: Trace, packet: Any) -> None:
    event = packet.track_event
    assert event.track_uuid in trace.tracks
    stack = trace.open.setdefault(event.track_uuid, [])
    if event.type == Event.TYPE_COUNTER:
        values = trace.counters.setdefault(event.track_uuid, [])
        values.append((packet.timestamp, event.double_counter_value))
    elif event.type == Event.TYPE_SLICE_END:
        ended = stack.pop()
        ended.duration = packet.timestamp - ended.start
    else:
        begun = slice_of(trace, packet)
        begun.parent = stack[-1] if stack else None
        if event.type == Event.TYPE_INSTANT:
            trace.instants.append(begun)
            return
        trace.slices.append(begun)
        stack.append(begun)


def add_clocks(zeros: dict[int, int], snapshot: Any) -> None:
    """When each of the clocks was 0, by CLOCK_REALTIME."""
    shown = {clock.clock_id: clock.timestamp for clock in snapshot.clocks}
    assert not zeros.keys() & shown.keys() - {REALTIME}, "a clock is defined twice"
    assert all(clock == REALTIME or 64 <= clock < 128 for clock in shown)
    assert shown[REALTIME] >= max(zeros.values(), default=0), "time goes back"
    zeros |= {clock: shown[REALTIME] - now for clock, now in shown.items()}
    zeros[REALTIME] = 0


def uses_texts(packet: Any) -> bool:
    event = packet.track_event
    return bool(event.name_iid or event.category_iids or event.debug_annotations)


def read(data: bytes) -> Trace:
    trace = Trace()
    packets = protos.Trace.FromString(data).packet
    assert packets[0].clock_snapshot.primary_trace_clock == REALTIME
    assert packets[0].sequence_flags == 1
    zeros: dict[int, int] = {}
    clock = 0
    for packet in packets:
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            assert track.uuid not in trace.tracks
            assert not track.parent_uuid or track.parent_uuid in trace.tracks
            trace.tracks[track.uuid] = track
            continue
        assert packet.trusted_packet_sequence_id == 1
        if packet.HasField("clock_snapshot"):
            add_clocks(zeros, packet.clock_snapshot)
        if packet.HasField("trace_packet_defaults"):
            clock = packet.trace_packet_defaults.timestamp_clock_id
            continue
        assert packet.sequence_flags == (2 if uses_texts(packet) else 0)
        packet.timestamp += zeros[packet.timestamp_clock_id or clock]
        add_texts(trace, packet.interned_data)
    events = [packet for packet in packets if packet.HasField("track_event")]
    for packet in sorted(events, key=lambda packet: packet.timestamp):
        add_event(trace, packet)
    return trace
