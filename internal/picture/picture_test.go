package picture_test

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color/palette"
	"image/gif"
	"image/jpeg"
	"image/png"
	"testing"

	"jcode/internal/picture"
)

// pictures returns one small picture of each kind.
func pictures(t *testing.T) map[string][]byte {
	t.Helper()
	img := image.NewPaletted(image.Rect(0, 0, 40, 30), palette.Plan9)
	for i := range img.Pix {
		img.Pix[i] = byte(i * 7)
	}
	var p, j, g bytes.Buffer
	for _, err := range []error{png.Encode(&p, img), jpeg.Encode(&j, img, nil), gif.Encode(&g, img, nil)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	w, err := base64.StdEncoding.DecodeString("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==")
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{"image/png": p.Bytes(), "image/jpeg": j.Bytes(), "image/gif": g.Bytes(), "image/webp": w}
}

func TestWholePicturesPassAndDamagedOnesDoNot(t *testing.T) {
	t.Parallel()
	for kind, data := range pictures(t) {
		if mime, err := picture.Check(data); mime != kind || err != nil {
			t.Errorf("%s: %q, %v", kind, mime, err)
		}
		for name, bad := range map[string][]byte{
			"cut in half":          data[:len(data)/2],
			"only its first bytes": data[:min(len(data), 16)],
			"junk after its start": append(bytes.Clone(data[:16]), bytes.Repeat([]byte("junk"), 50)...),
		} {
			if mime, err := picture.Check(bad); err == nil {
				t.Errorf("%s, %s: taken as %s", kind, name, mime)
			}
		}
	}
	for _, other := range []string{"", "text", "%PDF-1.4", "<svg></svg>", "BM1234567890"} {
		if _, err := picture.Check([]byte(other)); err == nil {
			t.Errorf("%q is taken for a picture", other)
		}
	}
}

func TestSizeIsReadFromTheHeader(t *testing.T) {
	t.Parallel()
	all := pictures(t)
	all["VP8X"] = []byte("RIFF\x20\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00\x27\x00\x00\x1d\x00\x00")
	all["VP8 "] = []byte("RIFF\x20\x00\x00\x00WEBPVP8 \x0a\x00\x00\x00\x00\x00\x00\x9d\x01\x2a\x28\x00\x1e\x00")
	for kind, data := range all {
		w, h, ok := picture.Size(data)
		want := [2]int{40, 30}
		if kind == "image/webp" {
			want = [2]int{1, 1}
		}
		if !ok || [2]int{w, h} != want {
			t.Errorf("%s: %d×%d, %v", kind, w, h, ok)
		}
		for n := range min(len(data), 64) {
			picture.Size(data[:n]) // truncated anywhere, it must not panic
		}
	}
	if _, _, ok := picture.Size([]byte("no picture")); ok {
		t.Error("text has a size")
	}
}
