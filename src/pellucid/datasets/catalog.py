"""The tables that can be loaded: what they are called, what is predicted, and where they come from."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches


@dataclass(frozen=True)
class Entry:
    """One table.

    Attributes
    ----------
    name : str
        Name by which it is loaded.
    task : str
        "regression", "counts", "classification", or the same with the kind of rows in brackets.
    rows, features : int
        Its size, target not counted.
    target : str
        Name of the target column.
    title : str
        Where it comes from, in a line.
    file : str
        Name of the file in a folder of data, without ending.
    drop : tuple of str
        Columns that are not features: other targets, names, original splits.
    openml : int or None
        Number of the table on OpenML, where the same table is there.
    bundled : str or None
        Loader in ``sklearn.datasets``, where scikit-learn has it.
    """

    name: str
    task: str
    rows: int
    features: int
    target: str
    title: str
    file: str = ""
    drop: tuple[str, ...] = ()
    openml: int | None = None
    bundled: str | None = None

    @property
    def stem(self) -> str:
        """Name of the file without ending."""
        return self.file or self.name

    @property
    def classes(self) -> bool:
        """Whether the target is a class."""
        return self.task.startswith("classification")


_REGRESSION = [
    Entry(
        "airfoil",
        "regression",
        1503,
        5,
        "scaled_sound_pressure_level",
        "Airfoil self-noise (NASA, UCI): sound pressure level in a wind tunnel",
        openml=44957,
    ),
    Entry(
        "parkinsons",
        "regression",
        5875,
        20,
        "total_UPDRS",
        "Parkinsons telemonitoring (UCI): symptom score of 42 patients from voice measures. The 20 inputs "
        "are all columns but motor_UPDRS, the other target; subject# tells patients apart",
        file="parkinsons_updrs",
        drop=("motor_UPDRS",),
        openml=4531,
    ),
    Entry(
        "pumadyn8nh",
        "regression",
        8192,
        8,
        "thetadd3",
        "Pumadyn-8nh (DELVE): dynamics of a robot arm, non-linear, high noise",
        openml=225,
    ),
    Entry(
        "pumadyn8nm",
        "regression",
        8192,
        8,
        "thetadd3",
        "Pumadyn-8nm (DELVE): dynamics of a robot arm, non-linear, medium noise",
    ),
    Entry(
        "pumadyn32nh",
        "regression",
        8192,
        32,
        "thetadd6",
        "Pumadyn-32nh (DELVE): dynamics of a robot arm, 32 inputs, high noise",
        openml=308,
    ),
    Entry("pumadyn32nm", "regression", 8192, 32, "thetadd6", "Pumadyn-32nm (DELVE), standardised"),
    Entry(
        "california",
        "regression",
        20640,
        8,
        "MedHouseVal",
        "California housing (Pace and Barry 1997): median house value of block groups, in 100 000 dollars",
        file="california_housing",
        bundled="fetch_california_housing",
    ),
    Entry("kin40k", "regression", 40000, 8, "y", "Kin40k: forward kinematics of a robot arm with 8 links"),
    Entry(
        "kin8nm",
        "regression",
        8192,
        8,
        "y",
        "Kin8nm (DELVE): kinematics of a robot arm, non-linear, medium noise",
        openml=189,
    ),
    Entry(
        "protein",
        "regression",
        45730,
        9,
        "RMSD",
        "Physicochemical properties of protein tertiary structure (UCI, CASP)",
        file="protein_casp",
        openml=44963,
    ),
    Entry("diabetes", "regression", 442, 10, "target", "Diabetes progression", bundled="load_diabetes"),
]

_COUNTS = [
    Entry("randhie", "counts", 20190, 9, "mdvis", "RAND health insurance experiment: visits to a doctor"),
    Entry(
        "fremtpl",
        "counts",
        413169,
        8,
        "ClaimNb",
        "French motor third-party liability claims; Exposure, in years, is the exposure and not a feature",
        file="fremtpl_freq",
    ),
]

_CLASSIFICATION = [
    Entry(
        "spambase", "classification", 4601, 57, "is_spam", "Spambase (UCI): mail from word counts", openml=44
    ),
    Entry(
        "eeg",
        "classification",
        14980,
        14,
        "eyeDetection",
        "EEG eye state (UCI): eyes open or closed; rows in the order of time, with a few gross outliers",
        file="eeg_eye_state",
        openml=1471,
    ),
    Entry(
        "credit",
        "classification",
        30000,
        23,
        "default payment next month",
        "Default of credit card clients (UCI, Taiwan)",
        file="credit_default",
        openml=42477,
    ),
    Entry(
        "bank",
        "classification",
        41188,
        20,
        "y",
        "Bank marketing (UCI, bank-additional-full): term deposits; ten columns are categories",
        file="bank_additional_full",
    ),
    Entry("cod_rna", "classification", 59535, 8, "y", "Cod-RNA (Uzilov et al. 2006, LIBSVM): non-coding RNA"),
    Entry(
        "breast_cancer",
        "classification",
        569,
        30,
        "target",
        "Breast cancer Wisconsin",
        bundled="load_breast_cancer",
    ),
    Entry("wine", "classification", 178, 13, "target", "Wine recognition", bundled="load_wine"),
]

_COMPOSITIONS = [
    Entry(
        "crohn",
        "classification (compositional)",
        975,
        48,
        "y",
        "Crohn's disease and 48 microbial genera, as counts",
    ),
    Entry(
        "hiv",
        "classification (compositional)",
        155,
        61,
        "HIV_Status",
        "HIV and 60 microbial genera, with MSM as a factor",
        file="hiv_microbiome",
    ),
]


def _spectra(name: str, rows: int, features: int, target: str, title: str, *drop: str, file: str) -> Entry:
    return Entry(name, "regression (spectra)", rows, features, target, title, file, drop)


_SPECTRA = [
    _spectra("peach", 50, 600, "Brix", "Peach near-infrared spectra, sugar", file="peach_nir_brix"),
    _spectra("plum", 40, 600, "Brix", "Plum near-infrared spectra, sugar", "Firmness", file="plum_nir_brix"),
    _spectra("gasoline", 60, 401, "octane", "Gasoline spectra (Kalivas 1997)", file="gasoline_nir"),
    _spectra("yarn", 28, 268, "density", "PET yarn spectra", "train", file="yarn_nir"),
    _spectra(
        "tecator", 215, 100, "fat", "Meat spectra (StatLib), fat", "moisture", "protein", file="tecator"
    ),
    _spectra("corn", 80, 700, "Moisture", "Corn spectra", "Oil", "Protein", "Starch", file="corn_nir_m5"),
    _spectra("beer", 60, 576, "extract", "Beer spectra (Norgaard 2000)", "set", file="beer_nir"),
    _spectra("soil", 108, 700, "som", "Arctic soil spectra, organic matter", file="soil_nir"),
    _spectra("wheat", 523, 100, "protein", "Wheat kernel spectra", "set", file="wheat_kernels_nit"),
]

CATALOG: dict[str, Entry] = {
    entry.name: entry for entry in (*_REGRESSION, *_COUNTS, *_CLASSIFICATION, *_COMPOSITIONS, *_SPECTRA)
}


def find_entry(name: str) -> Entry:
    """Return the entry of a name, a file name or a name in another spelling.

    >>> find_entry("Cod-RNA").name
    'cod_rna'
    """
    if not isinstance(name, str):
        raise TypeError(f"The name of a dataset is a string, got {type(name).__name__}.")
    names = {_plain(key): entry for entry in CATALOG.values() for key in (entry.name, entry.stem)}
    entry = names.get(_plain(name))
    if entry is None:
        near = get_close_matches(_plain(name), list(names), n=3, cutoff=0.5)
        close = sorted({names[key].name for key in near})
        hint = f" Did you mean {' or '.join(repr(c) for c in close)}?" if close else ""
        raise ValueError(f"There is no dataset {name!r}.{hint} list_datasets() names all of them.")
    return entry


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())


def list_datasets(task: str | None = None) -> list[str]:
    """Names of the tables that :func:`load_dataset` knows.

    Parameters
    ----------
    task : {"regression", "counts", "classification"}, optional
        Only tables whose task begins like this.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from pellucid.datasets import list_datasets
    >>> list_datasets("counts")
    ['randhie', 'fremtpl']
    """
    names = [entry.name for entry in CATALOG.values() if task is None or entry.task.startswith(task)]
    if not names:
        tasks = sorted({entry.task.split()[0] for entry in CATALOG.values()})
        raise ValueError(f"There is no task {task!r}: tasks are {', '.join(tasks)}.")
    return names
