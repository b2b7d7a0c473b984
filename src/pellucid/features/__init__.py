"""Explicit feature maps as scikit-learn transformers."""

from pellucid.features.fourier import PairwiseFourierFeatures, RandomFourierFeatures

__all__ = ["PairwiseFourierFeatures", "RandomFourierFeatures"]
