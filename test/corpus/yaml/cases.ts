/**
 * What the golden table asks kubectl about. Every case is the body of one object: `record.ts` puts apiVersion, kind and
 * metadata above it, so a case may hold any further top-level keys.
 */

/** Plain scalars, each asked for as a value, as an item of a flow list and as a key. */
const PLAIN = [
  // Booleans of YAML 1.1
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'yES', 'n', 'N', 'no', 'No', 'NO', 'nO', 'on', 'On', 'ON', 'oN', 'off', 'Off', 'OFF', 'oFF'],
  ...['true', 'True', 'TRUE', 'tRUE', 'false', 'False', 'FALSE', 't', 'f', 'T', 'F'],
  // Null
  ...['~', 'null', 'Null', 'NULL', 'nULL', 'nil', 'none'],
  // Integers
  ...['0', '-0', '+0', '1', '+1', '-1', '00', '007', '017', '018', '08', '09', '-017', '+017', '0o17', '0O17', '0o8', '-0o17', '0_7'],
  ...['0b1', '0B1', '0b102', '-0b11', '+0b11', '0b', '0x1F', '0X1f', '0xg', '-0x1F', '+0x1F', '0x', '1_000', '1__0', '_1', '1_', '-_1', '-1_000'],
  ...['0x_1', '0b_1', '0o_7', '0b1_0', '0b-1', '-0b-1', '0x-1'],
  ...['9007199254740991', '9007199254740992', '9007199254740993', '-9007199254740993', '9223372036854775807', '9223372036854775808'],
  ...['-9223372036854775808', '-9223372036854775809', '18446744073709551615', '18446744073709551616', '99999999999999999999999999'],
  ...['0xFFFFFFFFFFFFFFFF', '0x7FFFFFFFFFFFFFFF', '0x10000000000000000', '0777777777777777777777'],
  // Floats
  ...['1.0', '1.5', '1.10', '-1.5', '+1.5', '.5', '-.5', '+.5', '5.', '-5.', '.', '..', '1.2.3', '1e3', '1E3', '1e+3', '1e-3', '1.e3', '.5e1'],
  ...['1e', 'e3', '1e400', '-1e400', '1e-400', '1e20', '1e21', '1e22', '123456789.5', '0.1', '1_0.5', '1e1_0', '._5', '.5_5', '.1e400', '0.0', '-0.0'],
  ...['5e17', '1.8446744073709552e19', '012.5', '0e5', '00.5', '0x1p4', '0x1.8p1', '.0x1', '1e3.5', '1d3', '1f', '12345678901234567.5'],
  ...['.inf', '.Inf', '.INF', '-.inf', '+.inf', '.nan', '.NaN', '.NAN', 'inf', 'nan', 'NaN', 'Infinity', '.infinity', '-inf', '+Inf', '.Infinity'],
  // Base 60, dates and times
  ...['12:30', '12:30:45', '190:20:30', '1:2', '-1:30', '12:30.5', '2020-01-01', '2020-1-1', '2020-13-45', '2020-01-01T10:00:00Z'],
  ...['2020-01-01t10:00:00+01:00', '2020-01-01 10:00:00', '2020-01-01 10:00:00 Z', '20200101', '2020-01', '2020'],
  // Looks like something, is text
  ...['=', '<', '<<', '+', '-a', '+a', '--flag', '--port=80', '-1a', '1a', '0a', '1.2.3.4', '10.0.0.0/8', '1Gi', '500m', '100%', '1,000', '0.5m'],
  ...['a b', 'a#b', 'a:b', 'http://x/y', 'a,b', 'a[0]', '/etc/x', './x', '../x', '$x', '$(X)', '${x}', '^a', '\\d', 'ünïcode', '日本', '😀'],
  ...['a"b', "a'b", 'a|b', 'a>b', 'a&b', 'a*b', 'a!b', 'a%b', 'a@b', 'a`b', 'a{b', 'a}b', '?a', ':a', '::', ':80', '_', '__proto__', 'constructor'],
  ...['sha256:0123', '1:a', 'a:1', '0755', '0644', '1e1000000', '3.14159265358979323846', '1.7976931348623157e308', '5e-324', '123456789012345678'],
]

/** Whole bodies: quotes, blocks, flow, tags, anchors, merges, keys, comments, and what is refused. */
const BODIES = [
  // Empty values and comments
  'v:\n', 'v: \n', 'v: # comment\n', 'v: a # comment\n', 'v: a#b # c\n', 'v: "#"\n', 'v:\n  # only comment\nw: 1\n', 'v:\n- \n- a\n-\n', 'v: [a, , b]\n',
  'v: [,]\n', 'v: [a,]\n', 'v: {a: 1,}\n', 'v: {a, b}\n', 'v: {a: , b}\n', 'v: {}\n', 'v: []\n', 'v: { }\n', 'v: [ ]\n', 'v: {a: {b: [1, {c: d}]}}\n',
  // Quotes
  "v: 'no'\n", 'v: "no"\n', "v: '017'\n", 'v: "1"\n', "v: ''\n", 'v: ""\n', "v: 'it''s'\n", 'v: "a\\nb"\n', 'v: "\\u00e9\\x41\\t\\\\\\""\n', 'v: "a\\/b"\n',
  'v: "\\U0001F600"\n', 'v: "\\ud83d\\ude00"\n', 'v: "\\e\\a\\b\\v\\f\\0\\N\\_\\L\\P"\n', 'v: "a\\qb"\n', 'v: "a\n  b\n\n  c"\n', "v: 'a\n  b\n\n  c'\n", 'v: "a \\\n  b"\n',
  'v: "a\tb"\n', "v: 'a\tb'\n", "v: 'a # b'\n", 'v: "a: b"\n', "v: '~'\n", "v: 'null'\n", 'v: "x" # c\n', 'v: "unclosed\n', "v: 'unclosed\n", 'v: "a" b\n',
  // Plain over several lines
  'v: a\n  b\n  c\n', 'v: a\n\n  b\n', 'v:\n  a\n', 'v:\n  a\n  b\n', 'v: 1\n  2\n', 'v: a: b\n', 'v: a:\n', '- a\n', 'v: a #b\n  c\n',
  // Block scalars, every chomping indicator
  'v: |\n  a\n  b\n', 'v: |-\n  a\n  b\n', 'v: |+\n  a\n  b\n', 'v: |\n  a\n\n\nw: 1\n', 'v: |-\n  a\n\n\nw: 1\n', 'v: |+\n  a\n\n\nw: 1\n', 'v: |\n  a', 'v: |+\n  a', 'v: |-\n  a',
  'v: |\n\n  a\n', 'v: |2\n   a\n  b\n', 'v: |1\n  a\n', 'v: |-2\n    a\n', 'v: |2-\n    a\n', 'v: |\n    a\n      b\n    c\n', 'v: |\n  a  \n  b\t\n', 'v: |\n', 'v: |+\n\n', 'v: |-\n\nw: 1\n', 'v: |\nw: 1\n',
  'v: | # comment\n  a\n', 'v: |-  # comment\n  a\n', 'v: |\n  # not a comment\n  a\n', 'v: |\n  a\n # comment\nw: 1\n', 'v: |\n  no\n', 'v: |\n  \ta\n', 'v: |\n  a\n   \n  b\n', 'v: |\n  a\n \n  b\n', 'v: |0\n  a\n',
  'v: |\n   a\n  b\n', 'v:\n- |\n a\n- |-\n  b\n', 'v:\n  - |\n    a\n  - |+\n    b\n\n', 'v: |\n a\n', 'v: |\n  ---\n  ...\n', 'v: |\n  {{ .x }}: "y"\n',
  'v: >\n  a\n  b\n', 'v: >-\n  a\n  b\n', 'v: >+\n  a\n  b\n\n', 'v: >\n  a\n\n  b\n', 'v: >\n  a\n\n\n  b\n', 'v: >\n  a\n    b\n  c\n', 'v: >\n\n  a\n', 'v: >-\n  a\n\n\nw: 1\n', 'v: >\n  a\n  \tb\n  c\n',
  'v: >\n    x\n  # c\nw: 1\n', 'v: >2\n   a\n  b\n', 'v: >\n  a\n\n    b\n\n  c\n', 'v: >\n  a \n  b\n',
  // Tags
  'v: !!str 1\n', 'v: !!str no\n', 'v: !!str\n', 'v: !!int "3"\n', "v: !!int '017'\n", 'v: !!int x\n', 'v: !!float 1\n', 'v: !!float "1.5"\n', 'v: !!bool "yes"\n', 'v: !!bool 1\n', 'v: !!null ""\n', 'v: !!null x\n',
  'v: !!binary aGVsbG8=\n', 'v: !!binary "!"\n', 'v: !!binary |\n  aGVs\n  bG8=\n', 'v: !!timestamp 2020-01-01\n', 'v: !!timestamp "2020-01-01"\n', 'v: !!map {a: 1}\n', 'v: !!seq [a]\n', 'v: ! 1\n', 'v: ! no\n', '!!str 1: a\n',
  'v: !<tag:yaml.org,2002:str> 1\n', 'v: !!str |\n  1\n', 'v: !!int 1.5\n', 'v: !!float x\n',
  // Anchors, aliases, merge keys
  'v: &a 1\nw: *a\n', 'v: &a {x: 1}\nw: *a\n', 'v: &a [1, *b]\n', 'v: *none\n', 'v: &a\n  x: 1\nw:\n  <<: *a\n  y: 2\n', 'v: &a {x: 1}\nw:\n  x: 2\n  <<: *a\n', 'v: &a {x: 1}\nw:\n  <<: *a\n  x: 2\n',
  'v: &a {x: 1}\nu: &b {x: 2, y: 2}\nw:\n  <<: [*a, *b]\n', 'v: &a {x: 1}\nu: &b {x: 2}\nw:\n  <<: *a\n  <<: *b\n', 'w:\n  <<: {x: 1}\n', 'w:\n  <<: [{x: 1}, {x: 2}]\n', 'w:\n  <<: 1\n', 'w:\n  <<: [1]\n', 'w:\n  <<:\n',
  'w:\n  "<<": {x: 1}\n', 'w:\n  !!merge <<: {x: 1}\n', 'v: &a {x: {p: 1}}\nw:\n  <<: *a\n  x: {q: 2}\n', 'v: &a {x: 1}\nu: &b\n  <<: *a\n  y: 2\nw:\n  <<: *b\n', 'v: &a 1\nw: &a 2\nx: *a\n', 'v: &a no\nw: *a\n', '&a v: 1\nw: *a\n', 'v: &a x\n*a : y\n',
  'v: &a\nw: *a\n', 'v: &a [*a]\n', '<<: {v: 1}\n', 'v: [<<, a]\n', 'v: <<\n', 'v: &a [{x: 1}]\nw:\n  <<: *a\n',
  // Keys
  '1: a\n', '"1": a\n', '1.5: a\n', '1e6: a\n', '123456789.0: a\n', '0.1: a\n', 'no: a\n', '~: a\n', ': a\n', '"": a\n', '? a\n: b\n', '? a\n', '[a]: b\n', '{a: 1}: b\n', '0x10: a\n', '-1: a\n', '1_000: a\n', '2020-01-01: a\n',
  'a b: c\n', 'a : c\n', 'a/b.c: d\n', "'a: b': c\n", '"a\\nb": c\n', '__proto__: {x: 1}\n', 'constructor: {prototype: {x: 1}}\n', 'v: {"a":1}\n', "v: {'a':1}\n", 'v: {a:1}\n', 'v: ["a":1]\n', 'v: [a: 1]\n', 'v: [a: 1, b: 2]\n', 'v: {? a : b}\n',
  // One key twice: the last one counts
  'v: 1\nv: 2\n', 'v: {a: 1, a: 2}\n', 'v: {a: 1}\nv: {b: 2}\n',
  // Layout
  'v:\n- a\n- b\n', 'v:\n  - a\n  - b\n', 'v:\n    - a\n', 'v:\n-   a: 1\n    b: 2\n', 'v:\n- - a\n  - b\n- c\n', 'v:\n-\n  a: 1\n', 'v:\n  a: 1\n  b: 2\n', 'v:\n   a: 1\n   b:\n        c: 1\n', 'v:\n  a: 1\n   b: 2\n', 'v:\n  a: 1\n b: 2\n',
  'v:\ta\n', 'v:\n\ta: 1\n', 'v:\n  a:\t1\n', 'v: a\t# c\n', 'v: {\n  a: 1,\n  b: 2\n  }\n', 'v: {\na: 1}\n', 'v: [\n  a,\n  b\n]\n', 'v: [a,\n b] # c\n', 'v: {a: 1, # c\n  b: 2}\n', 'v: {a: 1}}\n', 'v: [a\n', 'v: ]\n', 'v: a\n  b: c\n', 'v:a\n', 'v: @a\n', 'v: `a\n', 'v: %a\n', 'v: &\n', 'v: *\n', 'v: - a\n', 'v: ? a\n', 'v: , a\n', 'v: -\n',
  'v: a\r\nw: b\r\n', 'v: |\r\n  a\r\n  b\r\n', 'v: "a\r\n  b"\r\n', 'v: a\rw: b\r', 'v: a\u2028w\n', 'v: "a\u2028b"\n', 'v: "a\u0085b"\n', 'v: |\n  a\u2028b\n', 'v: a\u0007b\n', 'v: a\u007fb\n', 'v: a\u0000b\n', 'v: a\ufeffb\n', 'v: "\ufffe"\n', 'v: "\u00a0x"\n',
  'v: a\n...\n', 'v: a\n# end', 'v: a', 'v: [a, b]: c\n', 'v: "a":b\n', 'v: [a]b\n', 'v: {a: b}c\n', 'v: a\n w: b\n', 'v: [{a: b, c: [d]}, "e", \'f\']\n', 'v: {a: no, b: 017, c: 1_000, d: "x"}\n', 'v: [no, 12:30, 1e3, ~]\n', 'v: {a: b:c}\n', 'v: [a?b, c]\n', 'v: [http://x/y]\n', 'v: {x: http://y}\n', 'v: [-1, - 1]\n', 'v: [-, a]\n', 'v: [a #b\n  , c]\n', 'v: [#c\n a]\n', 'v: {a: |\n  x}\n',
  // Brackets without indentation, as kpt writes them
  'v: {a: "x\ny"}\n', 'u:\n  v: {a: 1, # c\n    b: 2, # d\n}\n  w: 2\n', 'u:\n- [a,\nb\n]\n- c\n', 'v: {a: b\nc}\nw: 1\n', 'v: "a\nb"\n', "v: 'a\nb'\n", 'v: a\nb\n', 'v: [a\n---\nw: 1\n', 'v: {a: {b: [\n1\n]}}\n',
]

/** Every body, in a fixed order. */
export function corpusBodies(): readonly string[] {
  const scalars = PLAIN.flatMap((scalar) => [`v: ${scalar}\n`, `v: [${scalar}]\n`, `${scalar}: x\n`])
  return [...new Set([...scalars, ...BODIES])]
}
