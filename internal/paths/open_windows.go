package paths

// NoWait keeps the opening of a pipe from waiting for a writer.
const NoWait = 0
