"""How well a model of a table does on rows that it has not seen: beside plain models, and where it errs."""
