"""HLO text, both ways: the parser and the printer."""
