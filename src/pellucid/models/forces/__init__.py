"""Force fields: energies and forces of a molecule, learned from forces.

In the order of a fit: ``checks`` lets geometries, forces and atoms in, ``training`` takes them to internal
coordinates and states the problem, ``symmetries`` finds the permutations of equivalent atoms, ``choice``
takes length-scale and ridge by leaving one geometry out, ``solve`` gets coefficients in closed form or by
conjugate gradients on the covariance of ``hessian``, and ``force_field`` is the estimator that calls them. To
read it, ``posterior`` has standard deviations, ``explanation`` the parts of a prediction and ``summary`` the
facts. Descriptors of geometries are in :mod:`pellucid.features.geometry`.
"""
