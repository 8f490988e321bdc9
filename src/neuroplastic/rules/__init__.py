"""The learned rule base as people read it: text, explanations, simplification, figures of readability, standards."""
