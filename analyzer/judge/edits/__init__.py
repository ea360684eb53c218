"""The change of the scanned text that opens a gate for the target."""
