package picture

import (
	"bytes"
	"image"
	"image/jpeg"
	"image/png"

	"golang.org/x/image/draw"
)

// MaxSide is the longest side in pixels that every provider takes, also in a request with many pictures. Larger ones are
// made smaller by the providers themselves before a model sees them.
const MaxSide = 2000

// quality is that of a JPEG that was made smaller.
const quality = 88

// Fit returns a picture that was checked with no side over MaxSide. A picture that is small enough, and one of a type
// that is not decoded here, is returned as it is.
func Fit(data []byte, mime string) (fitting []byte, smaller bool) {
	var img image.Image
	var c image.Config
	var err error
	switch mime {
	case "image/png":
		c, err = png.DecodeConfig(bytes.NewReader(data))
	case "image/jpeg":
		c, err = jpeg.DecodeConfig(bytes.NewReader(data))
	}
	if side := max(c.Width, c.Height); err != nil || side <= MaxSide || int64(c.Width)*int64(c.Height) > maxPixels {
		return data, false
	}
	if mime == "image/png" {
		img, err = png.Decode(bytes.NewReader(data))
	} else {
		img, err = jpeg.Decode(bytes.NewReader(data))
	}
	if err != nil {
		return data, false
	}
	small := shrink(img)
	var out bytes.Buffer
	if mime == "image/png" {
		err = png.Encode(&out, small)
	} else {
		err = jpeg.Encode(&out, small, &jpeg.Options{Quality: quality})
	}
	if err != nil {
		return data, false
	}
	return out.Bytes(), true
}

// shrink scales a picture so that its longest side is MaxSide.
func shrink(img image.Image) image.Image {
	b := img.Bounds()
	side := max(b.Dx(), b.Dy())
	small := image.NewRGBA(image.Rect(0, 0, max(b.Dx()*MaxSide/side, 1), max(b.Dy()*MaxSide/side, 1)))
	draw.ApproxBiLinear.Scale(small, small.Bounds(), img, b, draw.Src, nil)
	return small
}
