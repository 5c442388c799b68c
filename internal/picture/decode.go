package picture

import (
	"bytes"
	"fmt"
	"image"
	"io"
)

// decode decodes a whole picture, after a check of its size.
func decode(data []byte, config func(io.Reader) (image.Config, error), whole func(io.Reader) (image.Image, error)) error {
	c, err := config(bytes.NewReader(data))
	if err != nil {
		return err
	}
	if int64(c.Width)*int64(c.Height) > maxPixels {
		return fmt.Errorf("%d by %d pixels are too many", c.Width, c.Height)
	}
	_, err = whole(bytes.NewReader(data))
	return err
}
