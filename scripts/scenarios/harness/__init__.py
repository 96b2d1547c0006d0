"""What all scenarios stand on: trees, volumes, tools, time limits and the report."""
