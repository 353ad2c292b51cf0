def random_kernels(seed: int, length: int) -> str: return ""
