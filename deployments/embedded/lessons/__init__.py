"""What the embedded model is taught: texts, a vocabulary, questions with known answers. No torch here."""
