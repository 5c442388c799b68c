-- How much a ranking by embeddings counts for an owner's documents, as learned from questions made of their passages.
CREATE TABLE document_weights (
  owner    TEXT NOT NULL,
  model    TEXT NOT NULL,
  weight   REAL NOT NULL,    -- of the ranking by embeddings, 0 to 1
  passages INTEGER NOT NULL, -- that there were then
  PRIMARY KEY (owner, model)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER session_document_weights AFTER DELETE ON sessions BEGIN
  DELETE FROM document_weights WHERE owner = 'session:' || old.id;
END;
