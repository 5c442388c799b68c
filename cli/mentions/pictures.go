package mentions

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"jcode/internal/paths"
	"jcode/internal/picture"
)

// maxImage bounds a picture that is attached to a prompt.
const maxImage = 10 << 20

// Pictures reads pictures for prompts; a path begins in Cwd, or in Home after ~/.
type Pictures struct{ Home, Cwd string }

// Read reads a picture for a prompt; its content decides the type.
func (p Pictures) Read(path string) (string, []byte, error) {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		path = filepath.Join(p.Home, rest)
	} else if !filepath.IsAbs(path) {
		path = filepath.Join(p.Cwd, path)
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", nil, err
	}
	if info.Size() > maxImage {
		return "", nil, fmt.Errorf("%s is larger than %d MB", path, maxImage>>20)
	}
	data, err := paths.ReadFile(path, maxImage)
	if err != nil {
		return "", nil, err
	}
	if kind := http.DetectContentType(data); !strings.HasPrefix(kind, "image/") {
		return "", nil, fmt.Errorf("%s is not a picture but %s", path, kind)
	}
	kind, err := picture.Check(data)
	if err != nil {
		return "", nil, fmt.Errorf("%s: %w", path, err)
	}
	data, _ = picture.Fit(data, kind)
	return kind, data, nil
}
