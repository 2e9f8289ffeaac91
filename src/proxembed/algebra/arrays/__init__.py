"""Arrays and sparse matrices: centring, products in threads, blocks, sizes and traces."""
