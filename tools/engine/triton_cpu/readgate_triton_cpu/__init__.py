"""A Triton backend named `cpu` that compiles nothing: kernels run in Triton's interpreter.

vLLM's CPU build looks for a backend of that name before it lets a model use Triton at all, and DiffusionGemma's
sampler is written in Triton. The real triton-cpu has no wheels.
"""
