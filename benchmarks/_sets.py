"""The twelve tables on which interpretable models are compared, as a data frame and a target."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from _measure import data_folder
from sklearn.model_selection import train_test_split

from pellucid.datasets import load_dataset

REGRESSION = ("airfoil", "parkinsons", "pumadyn8nh", "pumadyn8nm", "california", "kin40k", "protein")
CLASSIFICATION = ("spambase", "eeg", "credit", "bank", "cod_rna")
TABLES = (*REGRESSION, *CLASSIFICATION)


@dataclass(frozen=True)
class Split:
    """Training and test rows of one random 80/20 split."""

    X: pd.DataFrame
    y: np.ndarray
    X_test: pd.DataFrame
    y_test: np.ndarray


def is_regression(name: str) -> bool:
    return name in REGRESSION


def load(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Features and target; classes are 0 and 1."""
    X, y = load_dataset(name, folder=data_folder(), return_X_y=True)
    return (X, y) if is_regression(name) else (X, (y == np.unique(y)[1]).astype(int))


def split(name: str, seed: int) -> Split:
    X, y = load(name)
    train, test = train_test_split(np.arange(len(y)), test_size=0.2, random_state=seed)
    return Split(X.iloc[train].reset_index(drop=True), y[train], X.iloc[test].reset_index(drop=True), y[test])
