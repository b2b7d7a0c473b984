"""The command line: ``pellucid fit``, ``predict``, ``explain``, ``report``, ``compare``, ``info`` and ``demo``."""
