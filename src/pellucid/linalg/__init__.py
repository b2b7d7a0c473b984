"""All hot numeric code: arrays in, arrays out. Nothing here knows a kernel or an estimator."""

from pellucid.linalg.block_features import BlockFeatures
from pellucid.linalg.blocks import for_each_block, row_blocks
from pellucid.linalg.centering import Prepared, prepare, rank_one_update
from pellucid.linalg.column_space import ColumnSpace
from pellucid.linalg.conjugate_gradients import conjugate_gradients
from pellucid.linalg.counts import count_products, count_table, unary
from pellucid.linalg.curve_smoother import smooth_curve
from pellucid.linalg.distances import (
    contract_squared_differences,
    manhattan_distances,
    scaled_squared_distances,
    squared_distances,
)
from pellucid.linalg.factor import (
    bordered_inverse,
    cholesky_in_place,
    inverse_blocks_in_place,
    inverse_diagonal_in_place,
    smallest_eigenvalue,
    solve_cholesky,
)
from pellucid.linalg.lapack import lower_factor, lower_inverse
from pellucid.linalg.low_rank_eigh import positive_spectrum
from pellucid.linalg.memory import available_memory, format_bytes, require_memory
from pellucid.linalg.nystrom import pivoted_cholesky
from pellucid.linalg.preconditioner import LowRank, low_rank_preconditioner
from pellucid.linalg.scale import column_scale, power_of_two
from pellucid.linalg.sparse_rows import SparseRows, is_sparse
from pellucid.linalg.symmetric import symmetrise
from pellucid.linalg.symmetric_product import symmetric_product
from pellucid.linalg.threads import limited_threads, side_by_side
from pellucid.linalg.triangular import times_upper
from pellucid.linalg.wide import apply, column_moments

__all__ = [
    "BlockFeatures",
    "ColumnSpace",
    "LowRank",
    "Prepared",
    "SparseRows",
    "apply",
    "available_memory",
    "bordered_inverse",
    "limited_threads",
    "cholesky_in_place",
    "column_moments",
    "column_scale",
    "conjugate_gradients",
    "contract_squared_differences",
    "count_products",
    "count_table",
    "for_each_block",
    "format_bytes",
    "inverse_blocks_in_place",
    "is_sparse",
    "inverse_diagonal_in_place",
    "low_rank_preconditioner",
    "lower_factor",
    "lower_inverse",
    "manhattan_distances",
    "pivoted_cholesky",
    "positive_spectrum",
    "power_of_two",
    "prepare",
    "rank_one_update",
    "require_memory",
    "row_blocks",
    "scaled_squared_distances",
    "side_by_side",
    "smallest_eigenvalue",
    "smooth_curve",
    "solve_cholesky",
    "squared_distances",
    "symmetric_product",
    "symmetrise",
    "times_upper",
    "unary",
]
