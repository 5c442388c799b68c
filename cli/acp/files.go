package acp

import (
	"context"

	"github.com/coder/acp-go-sdk"
)

// files are the client's buffers, as one session may reach them.
type files struct {
	conn    *conn
	session string
	can     acp.FileSystemCapabilities
}

// Can implements Files.
func (f files) Can() (read, write bool) { return f.can.ReadTextFile, f.can.WriteTextFile }

// Read implements Files.
func (f files) Read(ctx context.Context, path string) (string, error) {
	var resp acp.ReadTextFileResponse
	err := f.conn.call(ctx, acp.ClientMethodFsReadTextFile, acp.ReadTextFileRequest{SessionId: acp.SessionId(f.session), Path: path}, &resp)
	return resp.Content, err
}

// Write implements Files.
func (f files) Write(ctx context.Context, path, text string) error {
	var resp acp.WriteTextFileResponse
	return f.conn.call(ctx, acp.ClientMethodFsWriteTextFile, acp.WriteTextFileRequest{SessionId: acp.SessionId(f.session), Path: path, Content: text}, &resp)
}
