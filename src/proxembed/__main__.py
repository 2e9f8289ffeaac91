"""`python -m proxembed`: the program."""

from proxembed.cli import main

if __name__ == "__main__":
    main()
