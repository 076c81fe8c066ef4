"""Programs in files, text or bytecode: what reads them, and what need not be read again."""
