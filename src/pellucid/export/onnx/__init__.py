"""A model as an ONNX graph.

:mod:`model` has ``to_onnx`` and makes inputs and outputs; :mod:`terms` writes models of terms,
:mod:`kernels` sums over training rows; both add operations to a :mod:`graph`.
"""

from pellucid.export.onnx.model import to_onnx

__all__ = ["to_onnx"]
