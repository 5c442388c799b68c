package clipboard

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"jcode/internal/launch"
	"jcode/internal/tidy"
)

// Content is what was found on the clipboard: a picture or text.
type Content struct {
	Picture []byte
	Kind    string // "png", "jpeg", "gif", "webp"
	Text    string
}

// ErrNone is returned when no program here reads the clipboard.
var ErrNone = errors.New("nothing here reads the clipboard")

// pictureKinds are the types that models accept, the best first. It is never written.
var pictureKinds = []string{"png", "jpeg", "webp", "gif"}

// Read returns the content of the clipboard, a picture before text. failed says what went wrong if
// nothing was found; it is ErrNone if no program could be asked.
func Read(ctx context.Context, programs launch.Programs, env func(string) string) (got Content, failed error) {
	failed = ErrNone
	all := reaching(env)
	for _, c := range all {
		if c.picture == nil {
			continue
		}
		data, err := c.readPicture(ctx, programs)
		if errors.Is(err, exec.ErrNotFound) {
			continue
		}
		kind, ok := strings.CutPrefix(http.DetectContentType(data), "image/")
		switch {
		case len(data) > maxPicture:
			return Content{}, fmt.Errorf("the picture is larger than %d MB", maxPicture>>20)
		case ok:
			return Content{Picture: data, Kind: kind}, nil
		}
		failed = err
	}
	for _, c := range all {
		if c.text == nil {
			continue
		}
		out, err := c.run(ctx, programs, c.text, "")
		switch {
		case errors.Is(err, exec.ErrNotFound):
		case err != nil && (failed == nil || errors.Is(failed, ErrNone)):
			failed = err
		case err == nil && len(out) > 0:
			return Content{Text: string(out)}, nil
		case errors.Is(failed, ErrNone):
			failed = nil
		}
	}
	return Content{}, failed
}

// readPicture returns the picture on the clipboard, nothing if there is none.
func (c program) readPicture(ctx context.Context, programs launch.Programs) ([]byte, error) {
	args := c.picture
	if c.types != nil {
		out, err := c.run(ctx, programs, c.types, "")
		if err != nil {
			return nil, err
		}
		types := strings.Split(string(out), "\n")
		i := slices.IndexFunc(pictureKinds, func(kind string) bool { return slices.Contains(types, "image/"+kind) })
		if i < 0 {
			return nil, nil
		}
		args = append(slices.Clip(args), "image/"+pictureKinds[i])
	}
	out, err := c.run(ctx, programs, args, "")
	if err != nil || c.decode == nil {
		return out, err
	}
	return c.decode(out)
}

// pictureLife is how long pictures from the clipboard are kept: what was sent is in the session, this is for
// drafts and for earlier prompts that are sent again.
const pictureLife = 30 * 24 * time.Hour

// Keep writes a picture into a folder, readable by the person only, and removes old ones; "" means a
// folder for temporary files.
func Keep(dir string, data []byte, kind string) (file string, err error) {
	if dir == "" {
		dir, err = os.MkdirTemp("", "jcode")
	} else {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return "", fmt.Errorf("keep the picture: %w", err)
	}
	tidy.Folder(dir, tidy.Limits{Age: pictureLife})
	f, err := os.CreateTemp(dir, "picture-*."+kind) // mode 0600
	if err != nil {
		return "", fmt.Errorf("keep the picture: %w", err)
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("keep the picture: %w", err)
	}
	return f.Name(), nil
}
