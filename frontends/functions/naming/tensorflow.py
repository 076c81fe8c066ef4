"""The names of `tf.experimental.dtensor`: those that mean something here, and what to write instead of the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NoReturn

from shardwright.compiler.tracing.array import Array
from shardwright.diagnostics.faults import attribute_error, value_error
from shardwright.frontends.functions.dtensor import as_dtensor
from shardwright.frontends.functions.relayouts import relayout
from shardwright.layout import Layout, Mesh
from shardwright.layout.forms.clients import Clients

UNSHARDED = Mesh.UNSHARDED
"""The spec of a dim that no axis splits."""

_DISTRIBUTED = "distribute it with shardwright.relayout or shardwright.pack"


def is_dtensor(tensor: object) -> bool:
    """
    Whether something is distributed over a mesh: a distributed tensor, or a variable that holds one.

    >>> is_dtensor(3.0)
    False
    """
    return isinstance(tensor, Array) and tensor.layout is not None


def fetch_layout(tensor: object) -> Layout:
    """
    The layout of a distributed tensor. Raises `ValueError` (SW0502) for anything else.

    >>> import numpy, shardwright
    >>> x = shardwright.relayout(numpy.ones(4), Layout(["x"], Mesh(x=2)))
    >>> fetch_layout(x).describe((4,), "f64")
    'f64[4@x]'
    """
    return as_dtensor(tensor, "fetch_layout", _DISTRIBUTED).layout


def check_layout(tensor: object, layout: Layout) -> None:
    """
    Raises `ValueError` (SW0583) where a distributed tensor has another layout.

    >>> import numpy, shardwright
    >>> rows = Layout(["x"], Mesh(x=2))
    >>> check_layout(shardwright.relayout(numpy.ones(4), rows), rows)
    """
    found = as_dtensor(tensor, "check_layout", _DISTRIBUTED)
    wanted = layout.for_rank(found.ndim)
    if found.layout != wanted:
        raise value_error(
            "SW0583", f"the tensor's layout is {found.layout}, not {wanted}", help="shardwright.relayout changes it"
        )


def copy_to_mesh(tensor: Array, layout: Layout) -> Array:
    """
    The tensor in a layout of another mesh, as `shardwright.relayout` gives it.

    >>> import numpy, shardwright
    >>> x = copy_to_mesh(numpy.ones(4), Layout.replicated(Mesh(x=2), rank=1))
    >>> x.mesh
    Mesh(x=2)
    """
    return relayout(tensor, layout)


def create_mesh(
    mesh_dims: Mapping[str, int] | Iterable[tuple[str, int]],
    mesh_name: str = "",
    devices: Sequence[object] | None = None,
) -> Mesh:
    """
    A mesh of these axes; without `devices` it may be run by any.

    >>> create_mesh([("batch", 4), ("model", 2)])
    Mesh(batch=4, model=2)
    """
    return Mesh(mesh_dims, devices, name=mesh_name or "mesh")


def num_clients() -> int:
    """
    How many processes run the program together: 1, or what the environment says.

    >>> num_clients()
    1
    """
    return Clients.found().count


def client_id() -> int:
    """
    Which of them this is, from 0 on.

    >>> client_id()
    0
    """
    return Clients.found().place


INSTEAD = {
    "DTensorCheckpoint": "use shardwright.Checkpoint, which reads into any layout and mesh",
    "DTensorDataset": "use shardwright.create_dtensor_iterable",
    "MATCH": "leave the dim out of a constraint: what no layout says is decided by propagation",
    "barrier": "nothing needs one: a result that is looked at has been computed; processes agree before each program",
    "call_with_layout": "give the creation function a layout, or shardwright.relayout its result",
    "create_distributed_mesh": "use shardwright.Mesh.distributed",
    "create_tpu_mesh": "use shardwright.Mesh with devices='jax': JAX runs what is on it",
    "default_mesh": "a layout names its mesh: give functions a layout, as in shardwright.zeros",
    "device_name": "a mesh has its devices: shardwright.Mesh.devices",
    "enable_save_as_bf16": "convert what is saved: shardwright.astype",
    "full_job_name": "there are no jobs: shardwright launch starts processes, which know num_clients and client_id",
    "get_default_mesh": "a layout names its mesh: shardwright.Layout",
    "heartbeat_enabled": "processes end together when one of them fails: shardwright launch",
    "initialize_accelerator_system": "nothing has to be initialised: make a shardwright.Mesh",
    "initialize_multi_client": "nothing has to be initialised: start the program with shardwright launch -n 4",
    "initialize_tpu_system": "nothing has to be initialised: make a shardwright.Mesh with devices='jax'",
    "job_name": "there are no jobs: shardwright launch starts processes, which know num_clients and client_id",
    "jobs": "there are no jobs: shardwright launch starts processes, which know num_clients and client_id",
    "local_devices": "a mesh knows them: shardwright.Mesh.local_device_ids",
    "name_based_restore": "use shardwright.Checkpoint, or shardwright.load_variables",
    "name_based_save": "use shardwright.Checkpoint",
    "num_global_devices": "a mesh knows them: shardwright.Mesh.size",
    "num_local_devices": "a mesh knows them: shardwright.Mesh.local_device_ids",
    "preferred_device_type": "NumPy runs a mesh without devices; shardwright.gpu_mesh and devices='jax' are for others",
    "run_on": "give layouts of the mesh on which it shall run: shardwright.Layout",
    "sharded_save": "use shardwright.Checkpoint: each process writes its own parts",
    "shutdown_accelerator_system": "nothing has to be shut down: a shardwright.Mesh is data",
    "shutdown_tpu_system": "nothing has to be shut down: a shardwright.Mesh is data",
}
"""What to use instead of the names of TensorFlow's that have no meaning of their own here."""


def no_dtensor_name(name: str, known: Sequence[str]) -> NoReturn:
    """Raises `AttributeError` (SW0516), which says what to use instead."""
    otherwise = f"its names are {', '.join(known)}"
    message = f"module 'shardwright.dtensor' has no attribute {name!r}"
    raise attribute_error("SW0516", message, help=INSTEAD.get(name, otherwise))
