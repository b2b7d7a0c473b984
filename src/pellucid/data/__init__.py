"""The one gate through which data enter: rows, targets, classes, weights, folds, parameters.

``rows`` are what kernels compare, ``targets`` numbers with their unit, offset and exposure, ``labels`` are
classes, ``weights`` say what rows count for, ``folds`` hold rows out, ``parameters`` checks the settings that
many estimators share.
"""
