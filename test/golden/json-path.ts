/**
 * What kubectl prints for a template: the same table for our printer (src/cli/flags/json-path.test.ts) and for the real kubectl
 * (src/cli/flags/json-path.kpt.test.ts). An object, not a list, because kubectl's `--local` commands take objects.
 */
import { parseJson } from '@backporch/kyaml/json'

export const TEXT = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"labels":{"a.b/c":"dot","app":"web","row":"row"},"name":"web"},"spec":{
"big":9007199254740993,"e":[],"f":0.00001,"h":1.5,
"l":[{"i":{"image":"x"},"name":"a","v":1},{"i":{"image":"y"},"name":"b","v":2},{"name":"c"}],
"m":{"x":1,"y":"<b>&"},"n":5,"s":["p","q","r","s"],"t":true,"z":null}}`
export const DOCUMENT = parseJson(TEXT)

export const PRINTED: readonly (readonly [template: string, text: string])[] = [
  ['{.spec.n}', '5'],
  ['{.spec.f}', '1e-05'],
  ['{.spec.h}', '1.5'],
  ['{.spec.big}', '9007199254740993'],
  ['{.spec.t}', 'true'],
  ['{.spec.z}|', 'null|'],
  ['{.spec.m}', '{"x":1,"y":"\\u003cb\\u003e\\u0026"}'],
  ['{.spec.e}', '[]'],
  ['{.spec.l[*].name}', 'a b c'],
  ['{.spec.l[0:2].name}', 'a b'],
  ['{.spec.l[1:].name}', 'b c'],
  ['{.spec.l[:-1].name}', 'a b'],
  ['{.spec.l[-2:].name}', 'b c'],
  ['{.spec.s[1,2]}', 'q r'],
  ['{.spec.s[-1]}', 's'],
  ['{.spec.s[::2]}', 'p r'],
  ['{.spec.s[1:1]}|', '|'],
  ['{.spec.s}', '["p","q","r","s"]'],
  ["{.spec.l[*]['name','v']}", 'a b c 1 2'],
  ["{.spec.m['x','y']}", '1 <b>&'],
  ['{..image}', 'x y'],
  ['{.spec.l..image}', 'x y'],
  ['{.nope.x}|', '|'],
  ['{.spec.n.x}|', '|'],
  ['{.spec.e[*]}|', '|'],
  ['{.metadata.labels.a\\.b/c}', 'dot'],
  ["{.metadata.labels['a\\.b/c']}", 'dot'],
  ['{range .spec.l[*]}{.name}={.v}{"\\n"}{end}x', 'a=1\nb=2\nc=\nx'],
  ['{range .spec.l[*]}{range .i}{.image}{end},{end}', 'x,y,,'],
  ['{range .spec.nope[*]}{.name}{end}|', '|'],
  ['{range .spec.s[*]}{@}{"\\t"}{end}', 'p\tq\tr\ts\t'],
  ['{.spec.l[?(@.name=="b")].v}', '2'],
  ['{.spec.l[?(@.name=="b)")].v}|', '|'],
  ["{.spec.l[?(@.name=='b')].v}", '2'],
  ['{.spec.l[?(@.name!="b")].name}', 'a c'],
  ['{.spec.l[?(@.v>1)].name}', 'b'],
  ['{.spec.l[?(@.v>=1)].name}', 'a b'],
  ['{.spec.l[?( @.v < 2 )].name}', 'a'],
  ['{.spec.l[?(@.v)].name}', 'a b'],
  ['{.spec.l[?(@.i.image=="x")].name}', 'a'],
  ['{.spec.l[*].i}', '{"image":"x"} {"image":"y"}'],
  ['{$.spec.n}{@.spec.t}', '5true'],
  ['{ .spec.n }', '5'],
  ['{.spec .n}', '5'],
  ['{"a" 5}', '5'],
  ['a}b{.spec.n}', 'a}b5'],
  ['{"\\u0041\\x42"}', 'AB'],
  ["{'it\\'s'}", "it's"],
  ['n: {.spec.n}, t: {.spec.t}', 'n: 5, t: true'],
  ['{.kind}/{.metadata.name}{"\\n"}', 'ConfigMap/web\n'],
]

/** Refused before anything is read. */
export const REFUSED = [
  '{.spec.n',
  '{.spec.s[}',
  '{.spec["s"]}',
  '{.spec.s[x]}',
  '{.spec.s[1:2:0]}',
  '{foo}',
  '{end}',
  '{.spec.l[?(@.name=~"b")]}',
  '{.spec.l[?(@.v=1)]}',
  '{.spec.l[?(@.v==1]}',
  '{"open}',
  '{"\\q"}',
  '{....x}',
  '{!}',
]

/** Taken, and then the document does not fit. */
export const MISMATCHED = [
  '{.spec.s[9]}',
  '{.spec.s[-9]}',
  '{.spec.e[0]}',
  '{.spec.s[0:9]}',
  '{.spec.s[3:1]}',
  '{.spec.m[*]}',
  '{.spec.n[0]}',
  '{.spec.m[?(@.x)]}',
  '{.spec.l[?(@.v=="1")].name}',
  '{.spec.l[?(@.i==1)].name}',
]
