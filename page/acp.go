package page

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"github.com/coder/websocket"

	"jcode/remote"
)

// maxFrame bounds one message of an editor, in bytes.
const maxFrame = 40 << 20

// connectionHeader names a connection in the answer to its beginning.
const connectionHeader = "Acp-Connection-Id"

// editor serves an editor over a WebSocket: each text frame is a message of the Agent Client Protocol. Only a program's
// token lets it in, which no browser sends by itself.
func (s *Server) editor(w http.ResponseWriter, r *http.Request) {
	key, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	v, err := s.opt.Devices.program(key)
	switch {
	case err != nil:
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, "a token is needed: jcode serve token NAME makes one", http.StatusUnauthorized)
		return
	case v.Role != remote.Control:
		http.Error(w, "this device watches: it may change nothing", http.StatusForbidden)
		return
	case s.live.count(v.ID) > maxStreams:
		http.Error(w, "too many connections of this device are open", http.StatusTooManyRequests)
		return
	}
	ctx, end := context.WithCancel(s.ctx)
	defer s.live.add(v.ID, end)()
	w.Header().Set(connectionHeader, random(16))
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true, CompressionMode: websocket.CompressionDisabled}) // guard has checked the origin
	if err != nil {
		return // it is answered
	}
	defer ws.CloseNow() //nolint:errcheck // the editor may be gone
	ws.SetReadLimit(maxFrame)
	in, messages := io.Pipe()
	go func() { // ends with the connection
		messages.CloseWithError(receive(ctx, ws, messages))
	}()
	if s.opt.Editor(ctx, v, in, frames{ctx, ws}) == nil {
		_ = ws.Close(websocket.StatusNormalClosure, "") // the editor may be gone
	}
	_ = in.Close() // ends what waits to be read
}

// receive passes the text frames on as lines, and ignores others.
func receive(ctx context.Context, ws *websocket.Conn, lines io.Writer) error {
	for {
		kind, data, err := ws.Read(ctx)
		if err != nil {
			if websocket.CloseStatus(err) != -1 || ctx.Err() != nil {
				return io.EOF
			}
			return err
		}
		if kind != websocket.MessageText {
			continue
		}
		var line bytes.Buffer
		if json.Compact(&line, data) != nil { // its answer says that it is no JSON
			line.Reset()
			line.Write(bytes.ReplaceAll(data, []byte("\n"), []byte(" ")))
		}
		line.WriteByte('\n')
		if _, err := lines.Write(line.Bytes()); err != nil {
			return err
		}
	}
}

// frames sends each line that is written as a text frame.
type frames struct {
	ctx context.Context
	ws  *websocket.Conn
}

// Write sends a line.
func (f frames) Write(line []byte) (int, error) {
	ctx, cancel := context.WithTimeout(f.ctx, sendIn)
	defer cancel()
	if err := f.ws.Write(ctx, websocket.MessageText, bytes.TrimRight(line, "\n")); err != nil {
		return 0, err
	}
	return len(line), nil
}
