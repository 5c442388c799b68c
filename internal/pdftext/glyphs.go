package pdftext

import (
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// glyphNames are the names of glyphs that are not composed of others, each with its character.
const glyphNames = ` space= exclam=! quotedbl=" numbersign=# dollar=$ percent=% ampersand=& quotesingle=' parenleft=( parenright=) asterisk=* plus=+ comma=, hyphen=- ` +
	`minus=− period=. slash=/ zero=0 one=1 two=2 three=3 four=4 five=5 six=6 seven=7 eight=8 nine=9 colon=: semicolon=; less=< equal== greater=> question=? at=@ ` +
	`bracketleft=[ backslash=\ bracketright=] asciicircum=^ underscore=_ grave=` + "`" + ` braceleft={ bar=| braceright=} asciitilde=~ quoteleft=‘ quoteright=’ quotedblleft=“ ` +
	`quotedblright=” quotesinglbase=‚ quotedblbase=„ guilsinglleft=‹ guilsinglright=› guillemotleft=« guillemotright=» endash=– emdash=— bullet=• ellipsis=… dagger=† ` +
	`daggerdbl=‡ periodcentered=· exclamdown=¡ questiondown=¿ cent=¢ sterling=£ yen=¥ currency=¤ Euro=€ euro=€ florin=ƒ section=§ paragraph=¶ copyright=© registered=® ` +
	`trademark=™ degree=° plusminus=± multiply=× divide=÷ mu=µ logicalnot=¬ brokenbar=¦ ordfeminine=ª ordmasculine=º onequarter=¼ onehalf=½ threequarters=¾ onesuperior=¹ ` +
	`twosuperior=² threesuperior=³ fraction=⁄ perthousand=‰ germandbls=ß AE=Æ ae=æ OE=Œ oe=œ Oslash=Ø oslash=ø Thorn=Þ thorn=þ Eth=Ð eth=ð Dcroat=Đ dcroat=đ Lslash=Ł ` +
	`lslash=ł dotlessi=ı dotlessj=ȷ ff=ff fi=fi fl=fl ffi=ffi ffl=ffl nbspace=  sfthyphen=- softhyphen=- acute=´ dieresis=¨ macron=¯ cedilla=¸ circumflex=ˆ tilde=˜ ` +
	`caron=ˇ breve=˘ ring=˚ ogonek=˛ dotaccent=˙ hungarumlaut=˝ Alpha=Α Beta=Β Gamma=Γ Delta=Δ Epsilon=Ε Zeta=Ζ Eta=Η Theta=Θ Iota=Ι Kappa=Κ Lambda=Λ Mu=Μ Nu=Ν Xi=Ξ ` +
	`Omicron=Ο Pi=Π Rho=Ρ Sigma=Σ Tau=Τ Upsilon=Υ Phi=Φ Chi=Χ Psi=Ψ Omega=Ω alpha=α beta=β gamma=γ delta=δ epsilon=ε epsilon1=ϵ zeta=ζ eta=η theta=θ theta1=ϑ iota=ι ` +
	`kappa=κ lambda=λ nu=ν xi=ξ omicron=ο pi=π pi1=ϖ rho=ρ rho1=ϱ sigma=σ sigma1=ς tau=τ upsilon=υ phi=φ phi1=ϕ chi=χ psi=ψ omega=ω infinity=∞ partialdiff=∂ summation=∑ ` +
	`product=∏ integral=∫ radical=√ approxequal=≈ notequal=≠ lessequal=≤ greaterequal=≥ lozenge=◊ element=∈ notelement=∉ emptyset=∅ intersection=∩ union=∪ universal=∀ ` +
	`existential=∃ gradient=∇ nabla=∇ similar=∼ proportional=∝ arrowleft=← arrowright=→ arrowup=↑ arrowdown=↓ arrowboth=↔ arrowdblright=⇒ arrowdblleft=⇐ arrowdblboth=⇔ ` +
	`angbracketleft=⟨ angbracketright=⟩ logicaland=∧ logicalor=∨ circleplus=⊕ circlemultiply=⊗ propersubset=⊂ reflexsubset=⊆ asteriskmath=∗ dotmath=⋅ prime=′ equivalence=≡ ` +
	`congruent=≅ perpendicular=⊥ therefore=∴ angle=∠ minute=′ second=″ checkmark=✓ a20=✔ square=□ filledbox=■ H22073=□ H18533=▪ triangleright=▹ openbullet=◦ `

// accents are the endings of the names of accented letters, with the combining character.
const accents = `acute=́ grave=̀ circumflex=̂ dieresis=̈ tilde=̃ caron=̌ cedilla=̧ commaaccent=̦ ring=̊ ogonek=̨ macron=̄ breve=̆ dotaccent=̇ dot=̇ hungarumlaut=̋ horn=̛ `

// glyph returns the text of a glyph by its name, "" for an unknown one.
func glyph(n name) string {
	s := string(n)
	if len(s) == 1 {
		return s
	}
	if i := strings.Index(glyphNames, " "+s+"="); i >= 0 && s != "" && !strings.ContainsAny(s, " =") {
		text := glyphNames[i+len(s)+2:]
		end := strings.IndexByte(text, ' ')
		return text[:max(end, 1)]
	}
	if base, _, ok := strings.Cut(s, "."); ok && base != "" {
		return glyph(name(base)) // "a.sc"
	}
	if strings.Contains(s, "_") && len(s) < 200 {
		var b strings.Builder
		for part := range strings.SplitSeq(s, "_") {
			b.WriteString(glyph(name(part)))
		}
		return b.String()
	}
	if digits, ok := strings.CutPrefix(s, "uni"); ok && len(digits) >= 4 && len(digits)%4 == 0 {
		if units := unhex([]byte(digits)); len(units) == len(digits)/2 {
			return utf16Text(string(units))
		}
	}
	if digits, ok := strings.CutPrefix(s, "u"); ok && len(digits) >= 4 {
		if r, err := strconv.ParseUint(digits, 16, 21); err == nil {
			return string(rune(r)) //nolint:gosec // 21 bits
		}
	}
	return accented(s)
}

// accented splits "Aacute" and the like.
func accented(s string) string {
	for entry := range strings.FieldsSeq(accents) {
		accent, mark, _ := strings.Cut(entry, "=")
		if base, ok := strings.CutSuffix(s, accent); ok && len(base) == 1 {
			return norm.NFC.String(base + mark)
		}
	}
	return ""
}
