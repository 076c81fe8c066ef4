"""Splitters as others wrote them for TensorFlow: in place, parts before what they are filled with."""

from typing import Any

from shardwright.serialization.splitting import ComposableSplitter


class SizedSplitter(ComposableSplitter):
    """A splitter that is told how large its message is."""

    __slots__ = ("proto_size",)

    def __init__(self, proto: Any, proto_size: int, **kwargs: Any) -> None:
        self.proto_size = proto_size
        super().__init__(proto, **kwargs)


class ConstantSplitter(SizedSplitter):
    def build_chunks(self) -> int:
        if self.proto_size <= 300:
            return 0
        tensor = self._proto.attr["value"].tensor
        content = tensor.tensor_content
        tensor.ClearField("tensor_content")
        self.add_chunk(content, ["attr", "value", "tensor", "tensor_content"])
        return len(content)


class WholeSplitter(SizedSplitter):
    def build_chunks(self) -> int:
        if self.proto_size <= 100:
            return 0
        moved = type(self._proto)()
        moved.MergeFrom(self._proto)
        self._proto.Clear()
        self.add_chunk(moved, [])
        return self.proto_size


class ListSplitter(ComposableSplitter):
    """Runs of a list go into messages that are added first and filled afterwards."""

    def __init__(self, proto: Any, field: str, kinds: list[Any], **kwargs: Any) -> None:
        super().__init__(proto, **kwargs)
        self.field, self.kinds = field, kinds

    def build_chunks(self) -> int:
        values, gone, total = getattr(self._proto, self.field), 0, 0
        cuts = list[tuple[int, Any]]()
        for number, value in enumerate(values):
            size = value.ByteSize()
            for kind in self.kinds:
                child = kind(value, size, parent_splitter=self, fields_in_parent=[self.field, number])
                taken = child.build_chunks()
                size, gone = size - taken, gone + taken
            if total + size >= 300:
                cuts.append((number, run := type(self._proto)()))
                self.add_chunk(run, [])
                total = 0
            total += size
        for place, (start, run) in enumerate(cuts):
            stop = cuts[place + 1][0] if place + 1 < len(cuts) else None
            getattr(run, self.field).MergeFrom(values[start:stop])
        if cuts:
            del values[cuts[0][0] :]
        return gone


class StrangersGraphSplitter(ComposableSplitter):
    """In place, the library inserted whole before what belongs into it: as TensorFlow's own."""

    def build_chunks(self) -> None:
        library = self._proto.library
        ListSplitter(
            self._proto, "node", [ConstantSplitter, WholeSplitter], parent_splitter=self, fields_in_parent=[]
        ).build_chunks()
        ListSplitter(
            library, "function", [WholeSplitter], parent_splitter=self, fields_in_parent=["library"]
        ).build_chunks()
        self.add_chunk(library, ["library"], 1)
        self._proto.ClearField("library")
