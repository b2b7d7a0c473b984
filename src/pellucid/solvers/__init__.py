"""One ridge problem in, one solution or a path of them out, with exact leave-one-out.

Solvers see matrices, never a kernel.
"""

from pellucid.solvers.calibration import Calibration, calibrate
from pellucid.solvers.choice import ITERATIVE_ROWS, SOLVERS, TALL, Choice, choose_solver
from pellucid.solvers.dual import CholeskySolver, SpectralSolver
from pellucid.solvers.fits import CRITERIA, Fits
from pellucid.solvers.glm import GLMFit, GLMProblem, fit_glm
from pellucid.solvers.gradient import criterion_gradient
from pellucid.solvers.hinge import HingeFit, fit_hinge
from pellucid.solvers.indefinite import check_positive, check_spectrum, clip, positive_part
from pellucid.solvers.joint import JointFit, fit_joint
from pellucid.solvers.multinomial import MultinomialFit, fit_multinomial
from pellucid.solvers.posterior import Posterior
from pellucid.solvers.primal import PrimalSolver

__all__ = [
    "CRITERIA",
    "ITERATIVE_ROWS",
    "Calibration",
    "Choice",
    "CholeskySolver",
    "Fits",
    "GLMFit",
    "GLMProblem",
    "HingeFit",
    "JointFit",
    "MultinomialFit",
    "Posterior",
    "PrimalSolver",
    "SOLVERS",
    "SpectralSolver",
    "TALL",
    "calibrate",
    "check_positive",
    "check_spectrum",
    "choose_solver",
    "clip",
    "criterion_gradient",
    "fit_glm",
    "fit_hinge",
    "fit_joint",
    "fit_multinomial",
    "positive_part",
]
