"""Checks a bill of materials against the schema of CycloneDX 1.6."""

import sys

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

with open(sys.argv[1], encoding="utf-8") as file:
    error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(file.read())
if error:
    sys.exit(f"{sys.argv[1]}: {error}")
