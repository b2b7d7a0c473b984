"""Claim, seen for ethanol with 1000 geometries (rMD17): training, choice of parameters included, takes less
than half the time of sGDML's and prediction less than a third, in less memory, with errors no larger; so it
is for malonaldehyde. With 50 to 400 geometries, errors of forces are about 1 % apart at most, and with 50 or
100, training is 1.1 to 1.8 times as fast. Aspirin with 1000, 57000 unknowns, takes four minutes of processor
time and 1.3 GB; sGDML's matrix takes 32 GB, and its iterative solver has gone 45 steps by then.

Same training and test geometries (the first official split). Rival: sgdml 1.0.3 in the same run, with the
settings of its own program: length-scales 10, 20, ... 90, each fitted on all geometries and scored on 200
others, until the error rises. Those others are among the 1000 of the test, which is in its favour. One thread
and one process for both. Seconds of processor time stand beside those of the clock; where several programs
share the machine they are the ones to compare.

The rival reckons with three copies of its matrix (two were seen); where they fit neither in memory nor in
swap space, it goes over to its iterative solver by itself. It then gets one length-scale, the one that it
chose for 200 geometries, and a limit of processor time and of memory, and says how far it came.

Seen, ours / sgdml: mean absolute errors of energies (kcal/mol) and forces (kcal/mol/Å), times as fast by
processor time in training and prediction, and memory relative to the rival's. With 1000 geometries, our
errors are of a later run than the ratios, and sGDML's with aspirin are those at which it was stopped:

    ethanol         50   .528/.597   1.928/1.930   1.5  12  .11
                   100   .268/.283   1.263/1.268   1.8  11  .24
                   200   .157/.157   .828/.830     3.6   8  .33
                   400   .101/.101   .588/.585     3.2   6  .33
                  1000   .056/.057   .359/.360     3.6   4  .31
    malonaldehyde   50   .498/.499   1.785/1.782   1.3  10  .10
                   100   .306/.312   1.399/1.385   1.8  13  .21
                   200   .196/.220   1.006/1.011   5.4  10  .32
                  1000   .066/.068   .416/.417     3.8   5  .31
    aspirin         50  1.153/1.131  3.188/3.208   1.1   7  .45
                   200   .541/.618   1.484/1.477   6.6   7  .50
                  1000   .188/1.54    .728/5.99   217 s of processor time, and 259 s

A published figure to compare with: 29.5 meV/Å, or 0.68 kcal/mol/Å, for forces of aspirin from 1000 geometries
with sGDML, on the original MD17, whose reference calculations are others (doi 10.1038/s41524-022-00773-z,
table 3).

Where forces are up to 1 % above sGDML's, it is within the noise of the choice: for 100 geometries of
malonaldehyde, length-scales of 12 and 96 had leave-one-out errors within 0.9 % and errors of 1.380 and 1.399
in the test. Ours are chosen on 40 to 100 training geometries, sGDML's length-scale on 200 of the test.

    python benchmarks/force_field.py                     200 geometries, three molecules
    python benchmarks/force_field.py 1000 ethanol        as many as rMD17's authors recommend at most
    python benchmarks/force_field.py curve ethanol       50, 100, ... 1000 geometries, sGDML up to 200
    python benchmarks/force_field.py 1000 aspirin 1e-4   iterative, to that residual; sGDML's matrix has 32 GB
"""

import json
import os
import resource
import signal
import sys
import time
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from _measure import data_folder, in_own_process

from pellucid.linalg import available_memory

MOLECULES = ("ethanol", "malonaldehyde", "aspirin")
COPIES = 3.0  # of its matrix are what the rival reckons with
SCALES = {"ethanol": 10, "malonaldehyde": 20, "aspirin": 70}  # of the rival with 200 geometries
LIMIT, ITERATIVE_MEMORY = 600.0, 5  # seconds of processor and GB of the rival where its matrix does not fit


def load(name: str) -> dict[str, np.ndarray]:
    with np.load(data_folder() / f"rmd17_{name}.npz") as archive:
        return {key: archive[key] for key in archive.files}


def ours(name: str, n: int, tol: float) -> dict[str, float]:
    from pellucid import ForceField

    data = load(name)
    start, work = time.perf_counter(), processor()
    field = ForceField(tol=tol).fit(
        data["R_train"][:n], data["F_train"][:n], energies=data["E_train"][:n], atoms=data["z"]
    )
    trained, worked = time.perf_counter(), processor()
    field.predict(data["R_test"][:1])  # lays the sum over training geometries out
    began, worked_before = time.perf_counter(), processor()
    E, F = field.predict(data["R_test"])
    done = time.perf_counter()
    return scores(E, F, data) | {
        "train": trained - start,
        "work": worked - work,
        "predict": done - began,
        "predict_work": processor() - worked_before,
        "scale": float(field.kernel_.length_scale),
        "solver": field.solver_ + (f", {len(field.residuals_) - 1} steps" if len(field.residuals_) else ""),
    }


def sgdml(name: str, n: int, tol: float) -> dict[str, float]:
    """With a matrix that fits, as its program goes about it; otherwise iterative, at one length-scale."""
    from sgdml.predict import GDMLPredict
    from sgdml.train import GDMLTrain
    from sgdml.utils import io

    data = load(name)
    fits = COPIES * matrix_of(data, n) < memory()
    scales = range(10, 100, 10) if fits else [SCALES[name]]
    limit, max_memory = (0.0, None) if fits else (LIMIT, ITERATIVE_MEMORY)

    def dataset(part: str, rows: slice) -> dict:
        found = {
            "type": "d",
            "code_version": "1",
            "name": np.array(name),  # as in a loaded archive
            "theory": np.array("rMD17"),
            "z": data["z"],
            "R": data[f"R_{part}"][rows],
            "F": data[f"F_{part}"][rows],
            "E": data[f"E_{part}"][rows],
            "F_min": 0.0,
            "F_max": 0.0,
            "F_mean": 0.0,
            "F_var": 0.0,
            "r_unit": "Ang",
            "e_unit": "kcal/mol",
        }
        found["md5"] = io.dataset_md5(found)
        return found

    train, valid = dataset("train", slice(0, n)), dataset("test", slice(800, 1000))
    start, work = time.perf_counter(), processor()
    trainer = GDMLTrain(max_memory=max_memory, max_processes=1)
    best, error, perms = None, np.inf, None
    for sig in scales:
        task = trainer.create_task(train, n, valid, 200, sig, perms=perms)
        perms = task["perms"]
        model = within(limit, trainer.train, task)
        if "R_desc" not in model:
            return dict.fromkeys(("energy", "force", "predict", "predict_work"), np.nan) | {
                "train": time.perf_counter() - start,
                "work": processor() - work,
                "scale": sig,
                "solver": model["reached"],
            }
        _, F = GDMLPredict(model, max_processes=1).predict(valid["R"].reshape(200, -1))
        here = float(np.sqrt(np.mean((F.reshape(valid["F"].shape) - valid["F"]) ** 2)))
        if here >= error:
            break
        best, error = model, here
    trained, worked = time.perf_counter(), processor()
    predictor = GDMLPredict(best, max_processes=1)
    predictor.prepare_parallel(n_bulk=1000)
    flat = data["R_test"].reshape(1000, -1)
    began, worked_before = time.perf_counter(), processor()
    E, F = predictor.predict(flat)
    done = time.perf_counter()
    return scores(E, F.reshape(data["F_test"].shape), data) | {
        "train": trained - start,
        "work": worked - work,
        "predict": done - began,
        "predict_work": processor() - worked_before,
        "scale": float(best["sig"]),
        "solver": best["reached"] or "closed",
    }


def within(limit: float, train: Callable[..., dict], task: dict) -> dict:
    """The model that training gives, or its last checkpoint when so many seconds of processor are spent."""
    from sgdml.solvers import iterative

    last: dict = {}

    def stop(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, limit)
    try:
        model = train(task, save_progr_callback=last.update)
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        norm = model.get("norm_y_train")  # only of iterative solutions
        reached = (
            ""
            if norm is None
            else f"{model['solver_iters']} steps, residual {model['solver_resid'] / norm:.0e}"
        )
    except TimeoutError:
        model, size = last, np.sqrt(task["F_train"].size)  # about the norm of forces in its unit
        steps, residual = getattr(iterative, "num_iters", 0), getattr(iterative, "resid", np.nan) / size
        reached = f"not finished after {limit:.0f} s of processor: {steps} steps, residual {residual:.0e}"
    return model | {"reached": reached}


def scores(E: np.ndarray, F: np.ndarray, data: dict[str, np.ndarray]) -> dict[str, float]:
    return {
        "energy": float(np.abs(E - data["E_test"]).mean()),
        "force": float(np.abs(F - data["F_test"]).mean()),
    }


_WHO = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)


def peak_memory() -> float:
    """Bytes, of this process and of the largest that it started."""
    return 1024.0 * sum(resource.getrusage(w).ru_maxrss for w in _WHO)


def processor() -> float:
    """Seconds of processor time, of this process and of those that it started and that have ended."""
    used = [resource.getrusage(w) for w in _WHO]
    return sum(u.ru_utime + u.ru_stime for u in used)


def child(which: str, name: str, n: str, tol: str) -> None:
    warnings.simplefilter("ignore")
    before, paged = peak_memory(), system("/proc/vmstat", "pswpin")
    found = {"ours": ours, "sgdml": sgdml}[which](name, int(n), float(tol))
    paged = (system("/proc/vmstat", "pswpin") - paged) * os.sysconf("SC_PAGE_SIZE") / 1e9
    print(json.dumps(found | {"MiB": (peak_memory() - before) / 2**20, "paged": paged}))


def matrix_of(data: dict[str, np.ndarray], n: int) -> float:
    """GB of the rival's matrix."""
    return 8e-9 * (n * data["R_train"][0].size) ** 2


def memory() -> float:
    """GB that are left, swap included."""
    return (available_memory() + 1024 * system("/proc/meminfo", "SwapFree:")) / 1e9


def system(file: str, key: str) -> int:
    """A number that the system keeps; 0 where it does not."""
    path = Path(file)
    lines = path.read_text().splitlines() if path.exists() else []
    return next((int(line.split()[1]) for line in lines if line.split()[0] == key), 0)


def report(name: str, n: int, *, rival: bool = True, tol: float = 1e-6) -> None:
    rivals = ["sgdml", "ours"] if rival and find_spec("sgdml") else ["ours"]
    found = {}
    for which in rivals:
        one = found[which] = in_own_process(__file__, which, name, n, tol)
        print(
            f"{name:14} {n:5} {which:6} energy MAE {one['energy']:.4f}  force MAE {one['force']:.4f}  "
            f"train {one['train']:7.1f} s ({one['work']:.0f} s of processor)  "
            f"1000 predictions {one['predict']:7.2f} s ({one['predict_work']:.2f})  "
            f"peak {one['MiB']:7.0f} MiB  length-scale {one['scale']:.3g} ({one['solver']})"
            + (f"  {one['paged']:.1f} GB read back from swap" if one["paged"] > 0.1 else ""),
            flush=True,
        )
    if len(found) == 2:
        a, b = found["ours"], found["sgdml"]
        print(
            f"{'':14} {'':5} ratio  energy {a['energy'] / b['energy']:.2f}  "
            f"force {a['force'] / b['force']:.2f}  "
            f"training {b['train'] / a['train']:.1f} times as fast "
            f"({b['work'] / a['work']:.1f} by processor)  prediction "
            f"{b['predict'] / a['predict']:.1f} times as fast ({b['predict_work'] / a['predict_work']:.1f})  "
            f"memory {a['MiB'] / b['MiB']:.2f}",
            flush=True,
        )


def main(arguments: list[str]) -> None:
    names = [a for a in arguments if a in MOLECULES] or list(MOLECULES)
    if "curve" in arguments:
        for name in names:
            for n in (50, 100, 200, 400, 700, 1000):
                report(name, n, rival=n <= 200)
        return
    n = next((int(a) for a in arguments if a.isdigit()), 200)
    tol = next((float(a) for a in arguments if "e-" in a), 1e-6)
    for name in names:
        report(name, n, tol=tol)


if __name__ == "__main__":
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    if "--child" in sys.argv:
        child(*sys.argv[sys.argv.index("--child") + 1 :])
    else:
        print(f"# {Path(__file__).stem}: rMD17, first split")
        main(sys.argv[1:])
