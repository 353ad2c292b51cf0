"""The text of LLVM IR: values, functions written level by level, modules."""
