// Package modelscli is what a user sees of models. A name that they write leads to a client: Clients.Resolve in clients.go is
// the way, and the first file to read. Around it are the model for titles (small.go), what settings and the table that is
// kept say of models (Known), the list of /model (List), the commands of `jcode models` (Cmd), and the first start of
// somebody who has no model yet (FirstStart, findserver.go). Requests are made by package agent/model.
package modelscli
