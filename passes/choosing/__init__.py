"""`choose-layouts`: layouts for what nobody laid out, by giving mesh axes to the dims that ops hold together."""
