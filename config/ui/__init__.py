"""The look of the house: template tags, icons, state words, times and the axis of the timeline.

Owns: nothing that is stored. It turns facts the rooms hand over into words, marks and lengths.
Words: *tone* is one of running, waiting, done, failed, unknown, stopped (a colour and its wash in
``static/css/tokens.css``); *mark* is the shape beside it; neither is ever shown without the word.
Dangers: text from outside goes through ``reveal``, so that hidden and look-alike signs are seen; nothing
here shortens a value that a person decides on. Numbers that people decide on arrive as text and leave as
text.
Locks: none.
"""
