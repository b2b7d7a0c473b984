"""Kernels of objects that fall into parts: strings, texts, graphs, molecules, bags of vectors."""
