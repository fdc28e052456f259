// Package data has the tables that Gitea reads itself, empty.
package data

// GeneratedCodeExtensions has none.
var GeneratedCodeExtensions = map[string]struct{}{}

// GeneratedCodeNameMatcher tells whether a file of that name is generated.
type GeneratedCodeNameMatcher func(string) bool

// GeneratedCodeNameMatchers has none.
var GeneratedCodeNameMatchers []GeneratedCodeNameMatcher
