"""Nodes of graphs, written by hand: attributes of the kinds that messages have."""

from shardwright.frontends.tensorflow.importing.tensors import tensor_proto
from shardwright.serialization.protos import graph_pb2 as pb

FLOAT = pb.DT_FLOAT


def attribute(value):
    if isinstance(value, bool):
        return pb.AttrValue(b=value)
    if isinstance(value, int):
        return pb.AttrValue(i=value)
    if isinstance(value, str):
        return pb.AttrValue(s=value.encode())
    if isinstance(value, pb.AttrValue):
        return value
    return pb.AttrValue(tensor=tensor_proto(value))


def kind(number=FLOAT):
    return pb.AttrValue(type=number)


def kinds(*numbers):
    return pb.AttrValue(list=pb.AttrValue.ListValue(type=numbers))


def called(name):
    return pb.AttrValue(func=pb.NameAttrList(name=name))


def node(home, name, op, *inputs, **attributes):
    return home.add(name=name, op=op, input=inputs, attr={key: attribute(value) for key, value in attributes.items()})
