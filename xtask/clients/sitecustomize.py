"""Python runs this at its start. If KANKA_BASE_URL is set, the SDK of Kanka talks to that address: it has no option for it,
and the packages themselves stay as they were published."""

import os

if os.environ.get("KANKA_BASE_URL"):
    from kanka.client import KankaClient

    KankaClient.BASE_URL = os.environ["KANKA_BASE_URL"]
