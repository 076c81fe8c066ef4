"""The prover: it writes the certificate of a program that was partitioned, and has the checker read it."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from shardwright.dialects.text.printing import print_module
from shardwright.proof.certificate import Certificate
from shardwright.proof.checker import Verdict, check


def certify(traced: ModuleOp, planned: ModuleOp, local: ModuleOp, seed: int = 0) -> tuple[Certificate, Verdict]:
    """
    The certificate that `local`, which was made of `planned`, computes what `traced` does; and what the checker says.

    >>> from shardwright.compiler.pipelines import LOCALIZE, run_pipeline
    >>> from shardwright.dialects.text.parsing import parse_module
    >>> traced = parse_module('''
    ...   sdy.mesh @mesh = <["x"=2]>
    ...   func.func @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<f32> {
    ...     %0 = stablehlo.constant dense<0.0> : tensor<f32>
    ...     %1 = stablehlo.reduce(%a init: %0) applies stablehlo.add across dimensions = [0]
    ...         : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    ...     return %1 : tensor<f32>
    ...   }''')
    >>> planned = traced.clone()
    >>> _ = run_pipeline(planned, ["plan"])
    >>> local = planned.clone()
    >>> _ = run_pipeline(local, LOCALIZE)
    >>> certify(traced, planned, local)[1].proved
    True
    """
    program, between, shard = (print_module(module) for module in (traced, planned, local))
    certificate = Certificate(program, between, shard, "", "", seed)
    return certificate, check(certificate)
