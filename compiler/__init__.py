"""From Python functions and StableHLO text to partitioned programs: tracer, array functions, pipelines, stages."""
