"""How the embedded model is made from its lessons, with torch: checkpoint, training, evaluation. Nothing is served."""
