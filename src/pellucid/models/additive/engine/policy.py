"""Every tuned number of the fit that bears on which terms stay, in the order of a fit.

They were chosen on tables and simulations; limits of memory and precision stand where they are used.
"Discrete" responses are classes and counts, whose rows tell little each.
"""

# axes
KNOTS, PAIR_KNOTS = 256, 96  # of a numeric feature, in main effects and in pairs
AXIS_COLUMNS = 64  # eigenfunctions of one axis
LENGTH_SCALE = 1.0  # of an axis whose bulk runs from 0 to 1; groups adapt it
MAX_FEATURES = 300  # main effects that get columns

# main effects
MAIN_COLUMNS = 800  # of all main effects to begin with
ROUGH, MAX_ROUGH = 0.01, 12  # p-value of main effects that get all their columns, and how many do at most
ROWS_PER_COLUMN = 10  # of such an effect, at least
SPARSE_SAMPLE = 4000  # rows that decide whether few main effects matter
SPARSE_GAIN = 0.01  # share of the held-out loss that this has to be worth

# structure: which pairs
SAMPLE, DISCRETE_SAMPLE = 12_000, 24_000  # rows that decide on the structure
PAIRS, ROWS_PER_PAIR = (50, 300), 12  # pairs that get columns, at least and at most; rows for each
COLUMNS_PER_PAIR = 8  # at least to begin with
COLUMNS = (600, 4000), (600, 3000)  # of all pairs, at least and at most; the latter of discrete responses
COLUMNS_PER_ROOT_ROW = 20.0, 60.0  # times the square root of the rows' information; the latter if discrete
PRUNE_FIRST = 0.0  # standard deviations above noise that a group has to reach while others may still come
DOUBT = 0.1  # pairs of a larger p-value are left out, unless weak effects are pooled
NOISE = 0.2  # share of noise among pairs, where weak effects are pooled but do not help
LEAST_SIGNAL = 0.1, 0.02  # prior variance of a column over its sampling variance; the latter if discrete
FEW_ROWS = 1500  # up to which pairs have to show their worth on held-out rows
FOLDS, FEW_FEATURES = 5, 40  # folds of these rows; two where there are more features

# weak terms of discrete responses
PARTS = 3  # of the rows, one of which is held out to check a decision
CHECK = 48_000  # rows of fits that check a decision

# penalised fits
PRUNE = 0.5  # standard deviations above noise that a group has to reach to stay
NOTHING = -1.0  # the same below which there is nothing in a main effect
ROUNDS, WORTH = 2, 0.97  # columns are shared out again as long as the error falls by this factor
UPDATES, MORE_UPDATES = 8, 14  # of variances at the end; the latter of columns that no round has seen
MANY_COLUMNS = 1500  # from which on variances are updated half as often
USUAL_SPREAD = 5.0  # prior mean of a group's standard deviation, in units of the linear predictor
POOL = 1.0  # degrees of freedom by which groups of one kind pull each other together, if discrete
MOST_SPENT = 0.2  # degrees of freedom per row that differs from others, where variances may be doubled

# pooled pairs
POOLED_ROWS = 500, 5000  # at least, for held-out rows to tell; at most, for a fit with all pairs at once
POOLED_COLUMNS, POOLED_AXIS_COLUMNS = 1200, 16  # of all features and of one, while all pairs are in the fit
PAIR_SHARE = 0.5  # variance of pairs as a share of that of main effects there
POOLED_PAIRS = 2  # pairs for each that rows can tell apart by itself
POOLED_COLUMNS_PER_PAIR, TESTED_COLUMNS = 5, 4  # shared by the pairs; smooth ones in the test of a pair
STEP = 4.0  # from one variance that is tried to the next
VARIANCES = tuple(STEP**k for k in range(-2, 3))  # that are tried
HELD_OUT_FOLDS = 2  # that are held out in turn
NEWTON_STEPS = 3, 2  # from the main effects, and from the fit with the variance before
