package picture_test

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"testing"

	"jcode/internal/picture"
)

func TestAPictureOverTheLimitOfProvidersIsMadeSmaller(t *testing.T) {
	t.Parallel()
	big := image.NewRGBA(image.Rect(0, 0, 3000, 1500))
	for x := range 3000 {
		for y := range 1500 {
			big.Set(x, y, color.RGBA{R: byte(x / 12), G: byte(y / 6), A: 255})
		}
	}
	var p, j bytes.Buffer
	if err := png.Encode(&p, big); err != nil {
		t.Fatal(err)
	}
	if err := jpeg.Encode(&j, big, nil); err != nil {
		t.Fatal(err)
	}
	for mime, data := range map[string][]byte{"image/png": p.Bytes(), "image/jpeg": j.Bytes()} {
		small, smaller := picture.Fit(data, mime)
		if kind, err := picture.Check(small); err != nil || kind != mime || !smaller {
			t.Errorf("%s: %q, %v, %v", mime, kind, err, smaller)
			continue
		}
		img, _, err := image.Decode(bytes.NewReader(small))
		if err != nil || img.Bounds().Dx() != picture.MaxSide || img.Bounds().Dy() != picture.MaxSide/2 {
			t.Errorf("%s: %v, %v", mime, img.Bounds(), err)
			continue
		}
		r, g, _, _ := img.At(1500, 500).RGBA()
		if r, g = r>>8, g>>8; r < 182 || r > 192 || g < 120 || g > 130 { // of column 2250 and row 750
			t.Errorf("%s: the colour is %d %d", mime, r, g)
		}
	}
	for mime, data := range pictures(t) {
		if same, smaller := picture.Fit(data, mime); smaller || !bytes.Equal(same, data) {
			t.Errorf("%s: a small picture is changed", mime)
		}
	}
}
