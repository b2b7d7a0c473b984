"""A fitted model behind a local page and a JSON endpoint.

:mod:`features` says what a row is made of and reads rows out of requests; :mod:`served` holds a model with
its data, :mod:`answers` predicts and takes predictions apart, :mod:`versions` keeps the edits of a session.
:mod:`payload`, :mod:`comparison` and :mod:`downloads` make what the page shows. :mod:`guard` stands before
everything: who may ask, and how much; :mod:`routes` has the addresses, :mod:`description` their OpenAPI
description, and :mod:`run` starts the server.
"""

from pellucid.serve.run import create_app, serve

__all__ = ["create_app", "serve"]
