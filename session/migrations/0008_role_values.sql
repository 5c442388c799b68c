-- The values of roles' variables: a JSON object of role names, each with its values by name.
ALTER TABLE sessions ADD COLUMN role_values TEXT NOT NULL DEFAULT '';
