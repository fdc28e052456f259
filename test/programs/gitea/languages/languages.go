// Package enry stands in for go-enry, with which Gitea names the languages of files. It knows none: go-enry fills its tables
// when a program starts, which is most of what each hook of a push costs (docs/facts/gitea-push-cost.md), and a test run has
// thousands of them. Languages are nothing that these tests look at.
package enry

// Type is the kind of a language.
type Type int

// The kinds that Gitea asks for.
const (
	Unknown Type = iota
	Data
	Programming
	Markup
	Prose
)

// OtherLanguage is the answer for a file whose language is not known.
const OtherLanguage = ""

// GetLanguage knows none.
func GetLanguage(string, []byte) string { return OtherLanguage }

// GetLanguageByExtension knows none.
func GetLanguageByExtension(string) (string, bool) { return OtherLanguage, false }

// GetLanguageByFilename knows none.
func GetLanguageByFilename(string) (string, bool) { return OtherLanguage, false }

// GetLanguageType knows none.
func GetLanguageType(string) Type { return Unknown }

// GetLanguageGroup knows none.
func GetLanguageGroup(string) string { return "" }

// GetColor is the one of no language.
func GetColor(string) string { return "#cccccc" }

// IsConfiguration says no.
func IsConfiguration(string) bool { return false }

// IsDocumentation says no.
func IsDocumentation(string) bool { return false }

// IsDotFile says no.
func IsDotFile(string) bool { return false }

// IsGenerated says no.
func IsGenerated(string, []byte) bool { return false }

// IsVendor says no.
func IsVendor(string) bool { return false }
