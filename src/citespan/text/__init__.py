"""Languages, sentences and index terms: what every stage must agree on about text."""
