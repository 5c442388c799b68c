// Package picture owns the check that bytes are a picture which a model's provider can read.
//
// It must not know where a picture comes from, or which model gets it.
package picture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image/gif"
	"image/jpeg"
	"image/png"
	"net/http"
)

// maxPixels limits the pictures that are decoded: a larger one would take hundreds of megabytes.
const maxPixels = 60_000_000

// Check decodes a picture and returns its media type. An error says why it can't be shown: it is damaged, cut
// off, too large, or of a type that models don't accept.
func Check(data []byte) (mime string, err error) {
	mime = http.DetectContentType(data)
	switch mime {
	case "image/png":
		err = decode(data, png.DecodeConfig, png.Decode)
	case "image/jpeg":
		err = decode(data, jpeg.DecodeConfig, jpeg.Decode)
	case "image/gif":
		err = decode(data, gif.DecodeConfig, gif.Decode)
	case "image/webp":
		err = webp(data)
	default:
		return "", errors.New("it is not a PNG, JPEG, GIF or WebP picture")
	}
	if err != nil {
		return "", fmt.Errorf("the %s data is damaged: %w", mime, err)
	}
	return mime, nil
}

// webp checks the structure of a WebP file, whose pixels are not decoded: its length must be
// right, and its chunks must fill it and begin with an image or its header.
func webp(data []byte) error {
	if len(data) < 20 {
		return errors.New("it is cut off")
	}
	size := int64(binary.LittleEndian.Uint32(data[4:])) + 8
	if size > int64(len(data)) {
		return errors.New("it is cut off")
	}
	image := false
	for rest := data[12:size]; len(rest) > 0; {
		if len(rest) < 8 {
			return errors.New("its last chunk is cut off")
		}
		n := int64(binary.LittleEndian.Uint32(rest[4:]))
		n += n & 1
		if n > int64(len(rest)-8) {
			return errors.New("a chunk is cut off")
		}
		switch kind := string(rest[:4]); {
		case kind == "VP8 ":
			image = image || n > 10 && bytes.Equal(rest[11:14], []byte{0x9d, 0x01, 0x2a})
		case kind == "VP8L":
			image = image || n > 5 && rest[8] == 0x2f
		case kind == "ANMF":
			image = true
		}
		rest = rest[8+n:]
	}
	if !image {
		return errors.New("it holds no image")
	}
	return nil
}
