"""Guards switched off one by one: each must make a named test fail, or the test proves nothing.

`make mutants` copies the tree to a temporary folder, changes one line there, runs the tests that are said to guard it, and
puts the line back. A mutant that no test notices, or whose line is not there any more, fails the command.
`MUTANT_ARGS="B41 B52"` runs those numbers alone.
"""
