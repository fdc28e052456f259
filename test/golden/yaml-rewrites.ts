/**
 * What kpt writes for a text: the same table for our writer (src/kyaml/yaml/write/write-yaml-node.test.ts) and for the real kpt
 * (src/kyaml/yaml/write/write-yaml-node.kpt.test.ts). `HEAD` stands for the four lines that make an object of it.
 */
export interface Rewrite {
  readonly name: string
  readonly text: string
  readonly written: string
}

const HEAD = 'apiVersion: v1\nkind: Row\nmetadata:\n  name: row\n'

const ROWS: readonly (readonly [name: string, text: string, written: string])[] = [
  [
    'spaces and quotes',
    'HEAD\na:   "x"\nb :  \'y\'\nc: z   \n',
    'HEAD\na: "x"\nb: \'y\'\nc: z\n',
  ],
  [
    'an empty line goes',
    'HEAD\na: 1\n\n\nb: 2\n',
    'HEAD\na: 1\nb: 2\n',
  ],
  [
    'a licence keeps its empty line',
    '# licence\n# of two lines\n\nHEAD\na: 1\n',
    '# licence\n# of two lines\n\nHEAD\na: 1\n',
  ],
  [
    'a comment above the first key',
    '# about\nHEAD\na: 1\n',
    '# about\nHEAD\na: 1\n',
  ],
  [
    'a licence, and a comment above the first key',
    '# licence\n\n# about\nHEAD\na: 1\n',
    '# licence\n\n# about\nHEAD\na: 1\n',
  ],
  [
    'a separator at the start goes',
    '--- # first\n# about\n\nHEAD\na: 1\n',
    '# first\n# about\nHEAD\na: 1\n',
  ],
  [
    'line comments',
    'HEAD\na: 1   # one\nb: # of the map\n  c: 2\t# two\nd: # of the list\n- e # three\n',
    'HEAD\na: 1 # one\nb: # of the map\n  c: 2 # two\nd: # of the list\n- e # three\n',
  ],
  [
    'a comment between keys is for the one below',
    'HEAD\na: 1\n# b\nb: 2\n',
    'HEAD\na: 1\n# b\nb: 2\n',
  ],
  [
    'above an empty line it is for the one above',
    'HEAD\na: 1\n# a\n\nb: 2\n',
    'HEAD\na: 1\n# a\n\nb: 2\n',
  ],
  [
    'a comment between empty lines',
    'HEAD\na: 1\n\n# between\n\nb: 2\n',
    'HEAD\na: 1\n# between\nb: 2\n',
  ],
  [
    'comments move to the indentation of what they are for',
    'HEAD\na:\n      # c\n  b: 1\n   # d\n  c: 2\n',
    'HEAD\na:\n  # c\n  b: 1\n  # d\n  c: 2\n',
  ],
  [
    'a dedented comment ends the map',
    'HEAD\na:\n  b: 1\n# d\nd: 2\n',
    'HEAD\na:\n  b: 1\n# d\nd: 2\n',
  ],
  [
    'a comment at the end',
    'HEAD\na: 1\n\n# end\n',
    'HEAD\na: 1\n\n# end\n',
  ],
  [
    'a comment right at the end',
    'HEAD\na: 1\n# end\n',
    'HEAD\na: 1\n# end\n',
  ],
  [
    'a comment at the end of a deep map',
    'HEAD\na:\n  b:\n    c: 1\n    # of c\n\nd: 2\n',
    'HEAD\na:\n  b:\n    c: 1\n    # of c\nd: 2\n',
  ],
  [
    'comments between items',
    'HEAD\na:\n# one\n- x\n# two\n- y\n\n# below\n\nb: 1\n',
    'HEAD\na:\n# one\n- x\n# two\n- y\n# below\nb: 1\n',
  ],
  [
    'a comment behind a dash',
    'HEAD\na:\n- # first\n  b: 1\n- # second\n  b: 2\n',
    'HEAD\na:\n- # first\n  b: 1\n- # second\n  b: 2\n',
  ],
  [
    'a comment above an item that is a map',
    'HEAD\na:\n# of the item\n- b: 1\n  # of c\n  c: 2\n',
    'HEAD\na:\n# of the item\n- b: 1\n  # of c\n  c: 2\n',
  ],
  [
    'a list that is indented',
    'HEAD\na:\n  - x\n  - b:\n      - y\n',
    'HEAD\na:\n  - x\n  - b:\n      - y\n',
  ],
  [
    'a list that is not',
    'HEAD\na:\n- x\n- b:\n    - y\n',
    'HEAD\na:\n- x\n- b:\n  - y\n',
  ],
  [
    'the first list decides',
    'HEAD\na:\n    - x\nb:\n  - y\nc:\n- z\n',
    'HEAD\na:\n  - x\nb:\n  - y\nc:\n  - z\n',
  ],
  [
    'a list in a list',
    'HEAD\na:\n-   - x\n    -   - y\n-\n  - z\n',
    'HEAD\na:\n- - x\n  - - y\n- - z\n',
  ],
  [
    'deep indentation',
    'HEAD\na:\n      b:\n          c: 1\n',
    'HEAD\na:\n  b:\n    c: 1\n',
  ],
  [
    'brackets',
    'HEAD\na: [ x,"y" , {b:  1,c: [] } ,]\nd: { }\n',
    'HEAD\na: [x, "y", {b: 1, c: []}]\nd: {}\n',
  ],
  [
    'brackets over lines',
    'HEAD\na: [\n  x,\n  y\n]\nb: {\n  c: 1,\n  d: 2\n}\n',
    'HEAD\na: [x, y]\nb: {c: 1, d: 2}\n',
  ],
  [
    'comments inside brackets',
    'HEAD\na: [\n  # first\n  x, # of x\n  y # of y\n]\n',
    'HEAD\na: [\n  # first\n  x, # of x\n  y, # of y\n]\n',
  ],
  [
    'a comment before a closing bracket',
    'HEAD\na:\n- {b: c} # d\n- [\n  e, # f\n  # g\n  ]\n',
    'HEAD\na:\n- {b: c} # d\n- [e, # f\n  # g\n]\n',
  ],
  [
    'comments inside braces',
    'HEAD\na: {\n  b: 1, # of b\n  c: 2 # of c\n}\n',
    'HEAD\na: {b: 1, # of b\n  c: 2, # of c\n}\n',
  ],
  [
    'a comment behind an opening bracket is lost',
    'HEAD\na: [ # lost\n  x]\n',
    'HEAD\na: [x]\n',
  ],
  [
    'JSON in a YAML file',
    'HEAD\na: {"b":"c","d":["e",1,true,null]}\n',
    'HEAD\na: {"b": "c", "d": ["e", 1, true, null]}\n',
  ],
  [
    'no value',
    'HEAD\na:\nb: # why\nc: ~\nd: null\ne: ""\nf:\n-\n-   # none\n- x\n',
    'HEAD\na:\nb: # why\nc: ~\nd: null\ne: ""\nf:\n-\n-\n# none\n- x\n',
  ],
  [
    'words of YAML 1.1 keep their looks',
    'HEAD\na: yes\nb: "no"\nc: on\nd: 0x1F\ne: 1_000\nf: 12:30\ng: 2020-01-01\n',
    'HEAD\na: yes\nb: "no"\nc: on\nd: 0x1F\ne: 1_000\nf: 12:30\ng: 2020-01-01\n',
  ],
  [
    'a text over lines becomes one line',
    'HEAD\na: some\n  text\nb: "some\n\n  text"\nc: \'some\n  text\'\n',
    'HEAD\na: some text\nb: "some\\ntext"\nc: \'some text\'\n',
  ],
  [
    'a long text stays on its line',
    'HEAD\na: long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long text\nb: "long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long text"\n',
    'HEAD\na: long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long text\nb: "long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long text"\n',
  ],
  [
    'literal blocks',
    'HEAD\na: |\n    x\n      y\nb: |-\n  x\nc: |+\n  x\n\nd: |2\n    x\n   y\n',
    'HEAD\na: |\n  x\n    y\nb: |-\n  x\nc: |+\n  x\n\nd: |2\n    x\n   y\n',
  ],
  [
    'a literal block with a space behind',
    'HEAD\na: |\n  x \n  y\nb: |\n  x\n  y \n',
    'HEAD\na: "x \\ny\\n"\nb: "x\\ny \\n"\n',
  ],
  [
    'a literal block of empty lines',
    'HEAD\na: |+\n\n\nb: |\n\n  x\n',
    'HEAD\na: |2+\n\n\nb: |2\n\n  x\n',
  ],
  [
    'the comment of a block',
    'HEAD\na: | # why\n  # no comment\n  x\n# of b\nb: >- # this\n  y\n',
    'HEAD\na: | # why\n  # no comment\n  x\n# of b\nb: >- # this\n  y\n',
  ],
  [
    'a folded block grows',
    'HEAD\na: >\n  x\n  y\n\n  z\nb: >-\n  x\n    y\n',
    'HEAD\na: >\n  x y\n\n  z\n\nb: >-\n  x\n\n    y\n',
  ],
  [
    'escapes',
    'HEAD\na: "\\u00e9\\t\\x41"\nb: "\\U0001F600"\nc: "\\u0085\\_\\L"\nd: "\\e\\0"\n',
    'HEAD\na: "é\\tA"\nb: "\\U0001F600"\nc: "\\N \\L"\nd: "\\e\\0"\n',
  ],
  [
    'characters beyond U+FFFF are escaped',
    'HEAD\na: 😀\nb: é\n# 😀\nc: 1\n',
    'HEAD\na: "\\U0001F600"\nb: é\n# 😀\nc: 1\n',
  ],
  [
    'a tab in a text',
    'HEAD\na: x\ty\nb: |\n  x\ty\n',
    'HEAD\na: "x\\ty"\nb: |\n  x\ty\n',
  ],
  [
    'quotes inside quotes',
    'HEAD\na: "it\'s \\"x\\""\nb: \'it\'\'s "x"\'\n',
    'HEAD\na: "it\'s \\"x\\""\nb: \'it\'\'s "x"\'\n',
  ],
  [
    'anchors and aliases',
    'HEAD\na: &x\n  b: 1 # of b\nc: *x # alias\nd: &y z\ne: [*y, *x]\n',
    'HEAD\na: &x\n  b: 1 # of b\nc: *x # alias\nd: &y z\ne: [*y, *x]\n',
  ],
  [
    'a merge key',
    'HEAD\na: &x {b: 1}\nc:\n  <<: *x\n  d: 2\n',
    'HEAD\na: &x {b: 1}\nc:\n  !!merge <<: *x\n  d: 2\n',
  ],
  [
    'tags',
    'HEAD\na: !!str 5\nb: !!int "5"\nc: !!binary aGk=\nd: !!map {e: !!float 3}\nf: !!seq\n- x\ng: !<tag:yaml.org,2002:str> y\n',
    'HEAD\na: !!str 5\nb: !!int "5"\nc: !!binary aGk=\nd: !!map {e: !!float 3}\nf: !!seq\n- x\ng: !!str y\n',
  ],
  [
    'an explicit key',
    'HEAD\n? a\n: 1\n? kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk\n: 2\n',
    'HEAD\na: 1\n? kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk\n: 2\n',
  ],
  [
    'keys in quotes',
    'HEAD\n"a": 1\n\'b c\': 2\n"d\\ne": 3\n"": 4\n',
    'HEAD\n"a": 1\n\'b c\': 2\n? "d\\ne"\n: 3\n"": 4\n',
  ],
  [
    'a root in braces',
    '# about\n{apiVersion: v1, kind: Row, metadata: {name: row}}\n# below\n',
    '# about\n{apiVersion: v1, kind: Row, metadata: {name: row},}\n# below\n',
  ],
  [
    'CRLF',
    'HEAD\r\na: 1 # x\r\nb: |\r\n  x\r\n  y\r\n# end\r\n',
    'HEAD\na: 1 # x\nb: |\n  x\n  y\n# end\n',
  ],
  [
    'a byte order mark goes',
    '\uFEFFHEAD\na: 1\n',
    'HEAD\na: 1\n',
  ],
  [
    'no line break at the end',
    'HEAD\na: 1 # end',
    'HEAD\na: 1 # end\n',
  ],
  [
    'a document end',
    'HEAD\na: 1\n# end\n...\n',
    'HEAD\na: 1\n\n# end\n',
  ],
]

/** The head of an object in the place of its mark. */
function asObject(text: string): string {
  return text.replace('HEAD\r\n', HEAD.replaceAll('\n', '\r\n')).replace('HEAD\n', HEAD)
}

export const REWRITES: readonly Rewrite[] = ROWS.map(([name, text, written]) => ({
  name,
  text: asObject(text),
  written: asObject(written),
}))
