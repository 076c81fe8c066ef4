"""The programs of the corpus, one module for each library: small models as its users write them."""
