"""Layouts as pictures: boxes of the tensor with the devices that hold them, as data, as text and as SVG."""

__all__: list[str] = []
