"""CustomResourceDefinitions as documents: read, compared, and shown with samples.

    definition        what matters of a document
    validation        whether a value is valid by a schema
    breaking_changes  what a new definition breaks, from the schema_diff of its versions
    sample            an object that is valid, with texts from text_examples
    reference         the reference in Markdown

Takes:     definitions, as steersman or anything else has written them
Gives:     breaking changes, samples, pages
Promises:  - where no breaking change is named what was kept is kept
           - a sample is what its schema takes
Never:     imports the class that a definition was made from
"""

__all__: list[str] = []
