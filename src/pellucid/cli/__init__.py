"""The command line: the program ``pellucid`` with its verbs, one module each."""
