package look

import (
	"math"

	"charm.land/lipgloss/v2"
)

// luminance is the relative luminance of a colour, by WCAG 2.
func luminance(c string) float64 {
	r, g, b, _ := lipgloss.Color(c).RGBA()
	part := func(v uint32) float64 {
		x := float64(v) / 0xffff
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	return 0.2126*part(r) + 0.7152*part(g) + 0.0722*part(b)
}

// contrast is that of two colours, by WCAG 2: 1 to 21.
func contrast(a, b string) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}
