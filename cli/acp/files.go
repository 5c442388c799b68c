package acp

import (
	"context"
	"fmt"

	"github.com/coder/acp-go-sdk"
)

// files are the client's buffers, as one session may reach them.
type files struct {
	conn    *conn
	session string
	can     acp.FileSystemCapabilities
}

// Read implements Files.
func (f files) Read(ctx context.Context, path string) (string, error) {
	if !f.can.ReadTextFile {
		return "", fmt.Errorf("the client does not read files")
	}
	var resp acp.ReadTextFileResponse
	err := f.conn.call(ctx, acp.ClientMethodFsReadTextFile, acp.ReadTextFileRequest{SessionId: acp.SessionId(f.session), Path: path}, &resp)
	return resp.Content, err
}

// Write implements Files.
func (f files) Write(ctx context.Context, path, text string) error {
	if !f.can.WriteTextFile {
		return fmt.Errorf("the client does not write files")
	}
	var resp acp.WriteTextFileResponse
	return f.conn.call(ctx, acp.ClientMethodFsWriteTextFile, acp.WriteTextFileRequest{SessionId: acp.SessionId(f.session), Path: path, Content: text}, &resp)
}
