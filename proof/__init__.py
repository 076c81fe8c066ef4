"""Certificates that a partitioned program computes what it was made of, and the checker that reads them again."""

from shardwright.proof.certificate import Certificate
from shardwright.proof.checker import CheckedOp, Verdict, check
from shardwright.proof.prover import Proof, certify, defined

__all__ = ["Certificate", "CheckedOp", "Proof", "Verdict", "certify", "check", "defined"]
