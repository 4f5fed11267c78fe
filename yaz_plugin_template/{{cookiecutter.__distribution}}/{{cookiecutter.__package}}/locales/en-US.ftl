# What people and agents read. The manifest names the keys; an agent chooses a tool by its text alone.

permission-read = Count words

command-count = Count the words of a text

tool-count-words =
    Counts the words of a text, which are what white space separates.
    Use it for a text you have at hand; it changes nothing.

words-counted =
    { $count ->
        [one] { $count } word
       *[other] { $count } words
    }
