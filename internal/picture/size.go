package picture

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"net/http"
)

// Size returns a picture's width and height in pixels according to its header; ok is false if that can't be
// read.
func Size(data []byte) (width, height int, ok bool) {
	var c image.Config
	var err error
	switch http.DetectContentType(data) {
	case "image/png":
		c, err = png.DecodeConfig(bytes.NewReader(data))
	case "image/jpeg":
		c, err = jpeg.DecodeConfig(bytes.NewReader(data))
	case "image/gif":
		c, err = gif.DecodeConfig(bytes.NewReader(data))
	case "image/webp":
		return webpSize(data)
	default:
		return 0, 0, false
	}
	return c.Width, c.Height, err == nil
}

// webpSize reads the first chunk of a WebP file: the extended header, or that of the image.
func webpSize(data []byte) (width, height int, ok bool) {
	if len(data) < 30 {
		return 0, 0, false
	}
	switch string(data[12:16]) {
	case "VP8X": // 24 bits each, one less than the size
		w := binary.LittleEndian.Uint32(data[24:28]) & 0xffffff
		h := binary.LittleEndian.Uint32(data[26:30]) >> 8
		return int(w) + 1, int(h) + 1, true
	case "VP8L": // 14 bits each, one less than the size
		bits := binary.LittleEndian.Uint32(data[21:25])
		return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1, true
	case "VP8 ": // 14 bits each; the upper two scale
		w, h := binary.LittleEndian.Uint16(data[26:28]), binary.LittleEndian.Uint16(data[28:30])
		return int(w & 0x3fff), int(h & 0x3fff), true
	}
	return 0, 0, false
}
