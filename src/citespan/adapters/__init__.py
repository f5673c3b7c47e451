"""citespan within other libraries: LangChain and LlamaIndex, each imported when it is used."""
