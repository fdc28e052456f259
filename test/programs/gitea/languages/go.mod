module github.com/go-enry/go-enry/v2

go 1.26
