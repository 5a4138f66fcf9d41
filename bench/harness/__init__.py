"""What every measure needs: rounds, a world to work on, programs to start, tables, charts."""
