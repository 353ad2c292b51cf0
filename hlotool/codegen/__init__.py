"""Code for whole modules: from scheduled HLO to the text of LLVM IR, for every target."""
