"""Classes that have moved since the former format of saved models: old dotted name -> present one."""

PRESENT_NAMES: dict[str, str] = {
    "proxembed.seen.SeenRows": "proxembed.rows.SeenRows",
}
