"""CustomResourceDefinitions as documents: read, compared, and illustrated with samples.

    definition        the parts of a CRD that the other modules use
    validation        whether a value is valid by a schema
    breaking_changes  what a new CRD breaks, from the schema_diff of its versions
    sample            a valid object, with strings from text_examples
    reference         the API reference in Markdown

Takes:     CRDs, written by steersman or by any other tool
Gives:     breaking changes, samples, pages
Promises:  - without a breaking change every stored object stays valid and complete
           - a sample satisfies its schema
Never:     imports the class from which a CRD was generated
"""

__all__: list[str] = []
