/** Folders of manifests: which files Argo CD reads, and what it reads in them. */
import type { JsonObject } from '@backporch/kyaml/json'
import type { ArgoCase, ArgoCases, FileTexts } from '../argo-case.ts'
import { config } from './charts.ts'

const A = config('a', 'x: "1"')
const B = config('b', 'x: "2"')
const DEEP = {
  'app/a.yaml': A,
  'app/sub/b.yaml': B,
  'app/sub/deeper/c.yml': config('c', 'x: "3"'),
  'app/other/d.json': json('d'),
}
const MANY = Object.fromEntries(
  [
    'a.yaml',
    'b.yaml',
    'ab.yaml',
    'config-dev.yaml',
    'config-prod.yaml',
    'sub/a.yaml',
    'sub/config-dev.yaml',
    'sub/deep/b.yaml',
  ].map((path) => [`app/${path}`, config(path.replaceAll(/[/.]/g, '-'), 'x: y')]),
)

function json(name: string): string {
  return `${JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { x: 'y' } }, undefined, 2)}\n`
}
const files = (all: FileTexts, more: Partial<ArgoCase> = {}): ArgoCase => ({ files: all, ...more })
const directory = (options: JsonObject, all: FileTexts = MANY): ArgoCase => ({
  files: all,
  source: { directory: options },
})
/** One file with this text. */
const text = (all: string, name = 'a.yaml'): ArgoCase => files({ [`app/${name}`]: all })
const list = (kind: string, items: string): string =>
  `apiVersion: v1\nkind: ${kind}\nitems:${items}`
const ITEM =
  '\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: one}\n- apiVersion: v1\n  kind: Secret\n  metadata: {name: two}\n'

export const DIRECTORY_FILES: ArgoCases = {
  'one file': files({ 'app/a.yaml': A }),
  'an empty folder': files({ 'app/README.md': 'nothing\n' }),
  'a folder that is not there': files({ 'other/a.yaml': A }),
  'a path that is a file': files({ 'app/a.yaml': A }, { source: { path: 'app/a.yaml' } }),
  'a path with dots and slashes': files(
    { 'app/a.yaml': A },
    { source: { path: './app/../app//' } },
  ),
  'the root of the repository': files({ 'a.yaml': A, 'sub/b.yaml': B }, { source: { path: '.' } }),
  'an absolute path': files({ 'app/a.yaml': A }, { source: { path: '/app' } }),
  'folders below, without recurse': files(DEEP),
  'folders below, with recurse': directory({ recurse: true }, DEEP),
  extensions: files({
    'app/a.yaml': A,
    'app/b.yml': B,
    'app/c.json': json('c'),
    'app/d.YAML': config('d', 'a: b'),
    'app/e.yaml.tmpl': A,
    'app/f.txt': A,
    'app/g': A,
    'app/.yaml': config('dot', 'a: b'),
    'app/h.yaml~': A,
  }),
  'hidden files and folders': directory(
    { recurse: true },
    { 'app/.a.yaml': A, 'app/.hidden/b.yaml': B, 'app/..c.yaml': config('c', 'a: b') },
  ),
  'a folder that ends with .yaml': directory({ recurse: true }, { 'app/folder.yaml/a.yaml': A }),
  'exclude a file': directory({ exclude: 'b.yaml' }),
  'exclude with recurse': directory({ exclude: 'b.yaml', recurse: true }),
  'exclude with an asterisk over folders': directory({ exclude: '*b.yaml', recurse: true }),
  'exclude with two asterisks': directory({ exclude: '**/b.yaml', recurse: true }),
  'exclude a folder': directory({ exclude: 'sub/*', recurse: true }),
  'exclude a folder without an asterisk': directory({ exclude: 'sub', recurse: true }),
  'exclude with braces': directory({ exclude: '{a.yaml,config-*.yaml}', recurse: true }),
  'exclude with braces in braces': directory({
    exclude: '{config-{dev,prod},ab}.yaml',
    recurse: true,
  }),
  'exclude with braces of other lengths and a text behind them': directory({
    exclude: '{config-*,ab}.yaml',
  }),
  'include with an asterisk between two slashes': directory({
    include: 'sub/*/a.yaml',
    recurse: true,
  }),
  'include a file': directory({ include: 'a.yaml' }),
  'include with braces and recurse': directory({ include: '{sub/*,ab.yaml}', recurse: true }),
  'include with a question mark': directory({ include: '?.yaml', recurse: true }),
  'include with a class of characters': directory({ include: '[ab].yaml' }),
  'include with a class that is not': directory({ include: '[!a].yaml' }),
  'include with a range': directory({ include: '[a-b]*.yaml' }),
  'include and exclude': directory({ include: '*config*', exclude: '*prod*', recurse: true }),
  'include that matches nothing': directory({ include: 'none' }),
  'include with an open bracket': directory({ include: '[a.yaml' }),
  'exclude with an open bracket': directory({ exclude: '[a.yaml' }),
  'include with an open brace': directory({ include: '{a.yaml,b.yaml' }),
  'include with a closing brace': directory({ include: 'a.yaml}' }),
  'include with a backslash': directory({ include: '\\a.yaml' }),
  'include with a space after the comma': directory({ include: '{a.yaml, b.yaml}' }),
  'include with an empty choice': directory({ include: '{,a}b.yaml' }),
  'include with a path from the root': directory({ include: 'app/a.yaml' }),
  'include with a leading dot': directory({ include: './a.yaml' }),
  'include in upper case': directory({ include: 'A.YAML' }),
  'a mark that the file is skipped': files({
    'app/a.yaml': `# +argocd:skip-file-rendering\n${A}`,
    'app/b.yaml': B,
  }),
  'a mark in a value, in a file of JSON and without a comment': files({
    'app/a.yaml': config('a', 'x: "+argocd:skip-file-rendering"'),
    'app/b.json': json('+argocd:skip-file-rendering'),
    'app/c.yaml': B,
  }),
  'a mark that is nearly one': files({
    'app/a.yaml': `# argocd:skip-file-rendering\n${A}`,
    'app/b.yaml': `# + argocd:skip-file-rendering\n${B}`,
  }),
  'a mark in the second document': text(`${A}---\n# +argocd:skip-file-rendering\n${B}`),
  'several documents': text(`${A}---\n${B}`),
  'empty documents': text(`---\n---\n# nothing\n---\n${A}---\n\n---\nnull\n`),
  'an empty object': text(`${A}---\n{}\n`),
  'an empty file': text(''),
  'a file of comments': text('# one\n# two\n'),
  'a separator with text, spaces and an end': text(`--- # first\n${A}---  \n${B}...\n`),
  'a separator with an object on its line': text(
    `${A}--- {apiVersion: v1, kind: ConfigMap, metadata: {name: flow}}\n`,
  ),
  'a separator in a value': text(config('a', 'x: |\n  ---\n  y\nz: "---"')),
  'a directive': text(`%YAML 1.1\n---\n${A}`),
  CRLF: text(A.replaceAll('\n', '\r\n')),
  'CRLF and several documents': text(`${A}---\n${B}`.replaceAll('\n', '\r\n')),
  'a mark of the byte order': text(`\uFEFF${A}`),
  'an object twice in one file': text(`${A}---\n${A.replace('"1"', '"9"')}`),
  'an object in two files, the later one counts': files({
    'app/b.yaml': A,
    'app/a.yaml': A.replace('"1"', '"9"'),
  }),
  'an object in a file and in a folder': directory(
    { recurse: true },
    { 'app/z.yaml': A, 'app/sub/a.yaml': A.replace('"1"', '"9"') },
  ),
  'the order of files and folders': directory(
    { recurse: true },
    {
      'app/s.yaml': A,
      'app/s/a.yaml': A.replace('"1"', '"2"'),
      'app/s-a.yaml': A.replace('"1"', '"3"'),
      'app/S.yaml': A.replace('"1"', '"4"'),
    },
  ),
  'values.yaml and other YAML': files({
    'app/a.yaml': A,
    'app/values.yaml': 'color: blue\nmetadata: x\n',
    'app/list.yaml': '- a\n- b\n',
    'app/text.yaml': 'only text\n',
    'app/number.yaml': '7\n',
  }),
  'YAML without a kind that looks like a manifest': files({
    'app/a.yaml': A,
    'app/b.yaml': '# apiVersion: kind: metadata:\nx: y\n',
  }),
  'YAML without a kind': files({
    'app/a.yaml': A,
    'app/b.yaml': 'apiVersion: v1\nmetadata: {name: b}\n',
  }),
  'a manifest and other YAML in one file': text(`${A}---\ncolor: blue\n`),
  'other YAML and a manifest in one file': text(`color: blue\n---\n${A}`),
  'other YAML and something that looks like a manifest without metadata': text(
    'color: blue\n---\napiVersion: v1\nkind: ConfigMap\n',
  ),
  'an empty kind': text('apiVersion: v1\nkind: ""\nmetadata: {name: a}\n'),
  'a kind that is a number': text('apiVersion: v1\nkind: 1\nmetadata: {name: a}\n'),
  'an object without apiVersion': text('kind: ConfigMap\nmetadata: {name: a}\n'),
  'an object without a name': text('apiVersion: v1\nkind: ConfigMap\ndata: {x: y}\n'),
  'an object with generateName': text(
    'apiVersion: batch/v1\nkind: Job\nmetadata: {generateName: a-}\n',
  ),
  'YAML that is broken': files({ 'app/a.yaml': A, 'app/b.yaml': 'x: [\n' }),
  'a manifest that is broken': files({
    'app/a.yaml': A,
    'app/b.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b\n',
  }),
  'a file that is broken behind an object': text(`${A}---\nx: [\n`),
  'a template of Helm that is no YAML': files({
    'app/a.yaml': A,
    'app/b.yaml': '{{ if .Values.x }}\nname: {{ .Values.x }}\n{{ end }}\n',
  }),
  'a template of Helm that looks like a manifest': files({
    'app/a.yaml': A,
    'app/b.yaml':
      '{{ if .Values.x }}\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Values.x }}}\n{{ end }}\n',
  }),
  'a key twice': text(config('a', 'x: "1"\nx: "2"')),
  'anchors and merges': text(
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: &d\n  x: "1"\nbinaryData:\n  <<: *d\n  y: *none\n',
  ),
  'anchors that are there': text(
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: &l {x: "1"}, annotations: {<<: *l, y: "2"}}\ndata: *l\n',
  ),
  'a merge over a key': text(
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nx: &x {k: "1", m: "2"}\ndata:\n  k: own\n  <<: *x\n',
  ),
  'numbers and truth values': text(
    'apiVersion: v1\nkind: Widget\nmetadata: {name: a}\nspec: {a: 1.0, b: 1e3, c: 0x10, d: 0o17, e: 017, f: yes, g: on, h: ~, i: 12345678901234567890, j: .5, k: 1_000, l: 2020-01-02, m: -0, n: 1.50, o: +1}\n',
  ),
  'a number without an end': text(
    'apiVersion: v1\nkind: Widget\nmetadata: {name: a}\nspec: {a: .inf}\n',
  ),
  'texts over lines': text(
    config('a', "a: |\n  one\n  two\nb: >-\n  one\n  two\nc: \"x\\ty\"\nd: 'it''s'"),
  ),
  'a tag': text(
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: !!str 1, y: !!binary aGk=}\n',
  ),
  'keys that are no texts': text(
    'apiVersion: v1\nkind: Widget\nmetadata: {name: a}\nspec: {1: a, true: b, 1.5: c}\n',
  ),
  'a null for data': text(
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: null}\ndata:\n',
  ),
  'status and creationTimestamp': text(
    'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, creationTimestamp: null}\nspec: {}\nstatus: {replicas: 1}\n',
  ),
  tabs: text('apiVersion: v1\nkind: ConfigMap\nmetadata:\n\tname: a\n'),
  'JSON in a file of YAML': text(
    '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}\n',
  ),
  'two objects of JSON in a file of YAML': text(
    '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}\n{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}}\n',
  ),
  'JSON and then YAML in one file': text(
    `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}\n---\n${B}`,
  ),
  'a file of JSON': text(json('a'), 'a.json'),
  'two objects in a file of JSON': text(`${json('a')}${json('b')}`, 'a.json'),
  'a list of JSON': text(`[${json('a')}]`, 'a.json'),
  'JSON that is no object of the cluster': text('{"color": "blue"}', 'a.json'),
  'JSON that is broken': text('{', 'a.json'),
  'YAML in a file of JSON': text(A, 'a.json'),
  'an empty file of JSON': text('', 'a.json'),
  'a manifest of an image': text(
    '{"schemaVersion": 2, "config": {"mediaType": "x"}, "layers": []}',
    'a.json',
  ),
  'JSON with a key twice and big numbers': text(
    '{"apiVersion": "v1", "kind": "Widget", "metadata": {"name": "a"}, "spec": {"a": 1, "a": 2, "b": 12345678901234567890, "c": 1.0, "d": 1e2}}',
    'a.json',
  ),
  'JSON with a comment': text(
    '// no\n{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}',
    'a.json',
  ),
  'JSON with a mark of the byte order': text(`\uFEFF${json('a')}`, 'a.json'),
  'a List': text(list('List', ITEM)),
  'a list of a kind': text(
    list(
      'ConfigMapList',
      '\n- metadata: {name: one}\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: two}}\n',
    ),
  ),
  'a list without a kind in its items': text(
    'apiVersion: v1\nkind: ConfigMapList\nitems: [{metadata: {name: a}}]\n',
  ),
  'an empty List': text(list('List', ' []\n')),
  'a List of null': text(list('List', ' null\n')),
  'a List without items': text('apiVersion: v1\nkind: List\n'),
  'a List in a List': text(
    list(
      'List',
      '\n- apiVersion: v1\n  kind: List\n  items:\n  - {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n',
    ),
  ),
  'an object with items that is no list': text(
    'apiVersion: example.com/v1\nkind: Menu\nmetadata: {name: a}\nitems: [{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}]\n',
  ),
  'an object with items and spec': text(
    'apiVersion: example.com/v1\nkind: Menu\nmetadata: {name: a}\nspec: {x: 1}\nitems: [{name: tea}]\n',
  ),
  'an object with items that are texts': text(
    'apiVersion: example.com/v1\nkind: Menu\nmetadata: {name: a}\nitems: [tea, coffee]\n',
  ),
  'an object with items that are null': text(
    'apiVersion: example.com/v1\nkind: Menu\nmetadata: {name: a}\nitems: null\n',
  ),
  'an object with items that are a map': text(
    'apiVersion: example.com/v1\nkind: Menu\nmetadata: {name: a}\nitems: {a: 1}\n',
  ),
  'a List in a file of JSON': text(
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'List',
      items: [JSON.parse(json('a')), JSON.parse(json('b'))],
    }),
    'a.json',
  ),
  jsonnet: files({
    'app/a.jsonnet':
      '{apiVersion: "v1", kind: "ConfigMap", metadata: {name: "j"}, data: {x: std.toString(1 + 1)}}',
  }),
  'jsonnet that is excluded': {
    files: { 'app/a.jsonnet': 'error "no"', 'app/b.yaml': B },
    source: { directory: { exclude: '*.jsonnet' } },
  },
  'jsonnet that is skipped by its mark': files({
    'app/a.jsonnet': '// +argocd:skip-file-rendering\nerror "no"',
    'app/b.yaml': B,
  }),
  'a library of jsonnet': files({ 'app/a.libsonnet': 'error "no"', 'app/b.yaml': B }),
  'a link to a file of the folder': files(
    { 'app/files/a.txt': A, 'app/b.yaml': B },
    { links: { 'app/a.yaml': 'files/a.txt' } },
  ),
  'a link to a file of another folder': files(
    { 'other/a.yaml': A, 'app/b.yaml': B },
    { links: { 'app/a.yaml': '../other/a.yaml' } },
  ),
  'a link to nothing': files({ 'app/b.yaml': B }, { links: { 'app/a.yaml': 'none.yaml' } }),
  'a link to a folder': {
    files: { 'other/a.yaml': A, 'app/b.yaml': B },
    links: { 'app/sub': '../other', 'app/sub.yaml': '../other' },
    source: { directory: { recurse: true } },
  },
  'a link out of the repository': files(
    { 'app/b.yaml': B },
    { links: { 'app/a.yaml': '../../a.yaml' } },
  ),
  'a link to a link': files(
    { 'app/x.txt': A, 'app/b.yaml': B },
    { links: { 'app/y.txt': 'x.txt', 'app/a.yaml': 'y.txt' } },
  ),
  'a link that is excluded': {
    files: { 'other/a.yaml': A, 'app/b.yaml': B },
    links: { 'app/a.yaml': '../other/a.yaml' },
    source: { directory: { exclude: 'a.yaml' } },
  },
  'a path that is a link to a folder': files({ 'other/a.yaml': A }, { links: { app: 'other' } }),
}
