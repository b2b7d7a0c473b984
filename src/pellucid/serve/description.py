"""The endpoint described in OpenAPI, so that programs can be made to use it."""

from __future__ import annotations

from typing import Any

from pellucid.serve.features import Feature
from pellucid.serve.guard import Limits
from pellucid.serve.served import Served

_MOST_LEVELS = 200


def openapi(served: Served, limits: Limits, *, token: bool) -> dict[str, Any]:
    """Description of the endpoint for predictions, with the features of this model."""
    from pellucid import __version__

    row = {
        "type": "object",
        "additionalProperties": False,
        "required": [f.name for f in served.features if f.used],
        "properties": {f.name: _schema(f) for f in served.features}
        | {name: {"type": "number", "description": key} for key, name in served.known.items()},
    }
    answer = {
        "type": "object",
        "properties": {
            "version": {"type": "integer", "description": "Number of the version of the model, 0 unedited."},
            "target": {"type": "string"},
            "scale": {"type": "string", "description": "What intercept and contributions add up to."},
            "predictions": {"type": "array", "items": {"$ref": "#/components/schemas/Prediction"}},
            "note": {"type": "string", "description": "Said where a model has no contributions."},
            "warnings": {"type": "array", "items": {"type": "string"}},
        },
    }
    error = {"type": "object", "properties": {"error": {"type": "string"}}}
    refusals = {
        "400": "Not complete, or no JSON.",
        "401": "The token is missing or wrong.",
        "413": f"More than {limits.body:,} bytes, {limits.rows:,} rows, or too many contributions.",
        "415": "Neither JSON nor CSV.",
        "422": "A row that the model cannot take; the message says which and why.",
    }
    made: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {
            "title": served.title,
            "version": __version__,
            "description": f"Predictions of {served.target}, taken apart into contributions of terms.",
        },
        "paths": {
            "/predict": {
                "post": {
                    "operationId": "predict",
                    "summary": f"Predict {served.target}",
                    "requestBody": {"required": True, "content": _requests(served)},
                    "responses": {
                        "200": {
                            "description": "One prediction for each row, in the order of the rows.",
                            "content": {
                                "application/json": {"schema": {"$ref": "#/components/schemas/Answer"}}
                            },
                        }
                    }
                    | {
                        code: {
                            "description": text,
                            "content": {
                                "application/json": {"schema": {"$ref": "#/components/schemas/Error"}}
                            },
                        }
                        for code, text in refusals.items()
                    },
                }
            }
        },
        "components": {
            "schemas": {"Row": row, "Answer": answer, "Prediction": _prediction(), "Error": error}
        },
    }
    if token:
        made["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        made["security"] = [{"token": []}]
    return made


def _requests(served: Served) -> dict[str, Any]:
    schema = {
        "type": "object",
        "required": ["rows"],
        "additionalProperties": False,
        "properties": {
            "rows": {"type": "array", "minItems": 1, "items": {"$ref": "#/components/schemas/Row"}},
            "contributions": {"type": "boolean", "default": True},
            "moves": {
                "type": "boolean",
                "default": False,
                "description": "For one row of a model without contributions: how far the answer moves when "
                "one value is put at a usual one.",
            },
        },
    }
    example = {"rows": [{f.name: _example(f) for f in served.features}]}
    return {
        "application/json": {"schema": schema, "example": example},
        "text/csv": {"schema": {"type": "string", "description": "A table with a line of names."}},
    }


def _example(feature: Feature) -> Any:
    if feature.kind == "date" and isinstance(feature.middle, float):
        from datetime import UTC, datetime, timedelta

        return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=feature.middle)).date().isoformat()
    return feature.middle


def _schema(feature: Feature) -> dict[str, Any]:
    """One value of a row; null is a missing value."""
    if feature.kind == "number":
        made: dict[str, Any] = {"type": ["number", "null"]}
        if feature.low is not None:
            made["description"] = f"{feature.low:g} to {feature.high:g} in training."
        return made
    if feature.kind == "date":
        return {"type": ["string", "number", "null"], "description": "ISO 8601, or days since 1970."}
    made = {"type": ["string", "null"]}
    if 0 < len(feature.levels) <= _MOST_LEVELS:
        made["examples"] = list(feature.levels)
    return made


def _prediction() -> dict[str, Any]:
    number_or_by_class = {
        "oneOf": [{"type": "number"}, {"type": "object", "additionalProperties": {"type": "number"}}]
    }
    return {
        "type": "object",
        "required": ["prediction"],
        "properties": {
            "prediction": {"type": ["number", "string"], "description": "The number, or the class."},
            "probabilities": {"type": "object", "additionalProperties": {"type": "number"}},
            "scores": {"type": "object", "additionalProperties": {"type": "number"}},
            "intercept": number_or_by_class,
            "contributions": {"type": "object", "additionalProperties": number_or_by_class},
            "offset": {"type": "number", "description": "Offset, with the logarithm of the exposure."},
            "sum": number_or_by_class,
            "moves": {"type": "object", "additionalProperties": number_or_by_class},
            "outside": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Features whose value lies outside what training saw.",
            },
        },
    }
