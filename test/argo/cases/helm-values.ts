/** Where the values of a chart are from: value files, values, parameters, and which of them counts. */
import type { ArgoCases } from '../argo-case.ts'
import { dumped, printed, VALUES } from './charts.ts'

const param = (name: string, value: string) => ({ name, value })
const string = (name: string, value: string) => ({ name, value, forceString: true })
const MORE = {
  'app/more.yaml': 'color: red\nnested: {b: {c: x}}\nlist: [c]\n',
  'app/last.yaml': 'color: green\ncount: 9\n',
}
const ELSEWHERE = { 'values/shared.yaml': 'color: shared\n', 'app/sub/deep.yaml': 'count: 7\n' }

export const HELM_VALUES: ArgoCases = {
  'no options': dumped({}),
  'empty options of Helm': dumped(
    {},
    {},
    { source: { helm: { parameters: [], valueFiles: [], values: '' } } },
  ),
  'no values.yaml': dumped({}, { 'app/values.yaml': '' }),
  'values.yaml with CRLF and a mark of the byte order': dumped(
    {},
    { 'app/values.yaml': `\uFEFF${VALUES.replaceAll('\n', '\r\n')}` },
  ),
  'values.yaml with anchors, octal and long numbers': dumped(
    {},
    {
      'app/values.yaml':
        'a: &x {b: 0o17, c: 017, d: 1e3, e: 12345678901234567890, f: 1.10, g: 0x1F}\nh: *x\ni: {<<: *x, j: yes}\nk: 2020-01-02\n',
    },
  ),
  'a key twice in values.yaml': dumped({}, { 'app/values.yaml': 'a: 1\na: 2\n' }),
  'values.yaml is a list': dumped({}, { 'app/values.yaml': '- a\n' }),
  'values.yaml has several documents': dumped({}, { 'app/values.yaml': 'a: 1\n---\na: 2\n' }),
  'a value file': dumped({ valueFiles: ['more.yaml'] }, MORE),
  'two value files': dumped({ valueFiles: ['more.yaml', 'last.yaml'] }, MORE),
  'two value files the other way round': dumped({ valueFiles: ['last.yaml', 'more.yaml'] }, MORE),
  'one value file twice': dumped({ valueFiles: ['more.yaml', 'last.yaml', 'more.yaml'] }, MORE),
  'values.yaml as a value file': dumped(
    { valueFiles: ['values.yaml', 'more.yaml', 'values.yaml'] },
    MORE,
  ),
  'a value file above the chart': dumped({ valueFiles: ['../values/shared.yaml'] }, ELSEWHERE),
  'a value file from the root of the repository': dumped(
    { valueFiles: ['/values/shared.yaml', 'sub/deep.yaml', './sub/../more.yaml'] },
    { ...ELSEWHERE, ...MORE },
  ),
  'a value file out of the repository': dumped({ valueFiles: ['../../shared.yaml'] }, ELSEWHERE),
  'a missing value file': dumped({ valueFiles: ['none.yaml', 'more.yaml'] }, MORE),
  'a missing value file that may be missing': dumped(
    { valueFiles: ['none.yaml', 'more.yaml', 'x/none.yaml'], ignoreMissingValueFiles: true },
    MORE,
  ),
  'a value file out of the repository that may be missing': dumped(
    { valueFiles: ['../../shared.yaml'], ignoreMissingValueFiles: true },
    MORE,
  ),
  'a pattern as a value file': dumped(
    { valueFiles: ['values/*.yaml'] },
    { 'app/values/a.yaml': 'color: a\n', 'app/values/b.yaml': 'color: b\n' },
  ),
  'a pattern as a value file that may be missing': dumped(
    { valueFiles: ['values/*.yaml', '**/b.yaml'], ignoreMissingValueFiles: true },
    { 'app/values/a.yaml': 'color: a\n', 'app/values/b.yaml': 'color: b\n' },
  ),
  'a folder as a value file': dumped({ valueFiles: ['sub'] }, ELSEWHERE),
  'a value file with variables in its name': dumped(
    {
      valueFiles: [
        '$ARGOCD_APP_NAME.yaml',
        '${ARGOCD_APP_NAMESPACE}-${ARGOCD_APP_PROJECT_NAME}.yaml',
      ],
    },
    { 'app/shop.yaml': 'color: of the name\n', 'app/shop-default.yaml': 'count: 5\n' },
  ),
  'a value file of a scheme that is not allowed': dumped({
    valueFiles: ['s3://bucket/values.yaml'],
  }),
  'a value file that is a link': {
    ...dumped({ valueFiles: ['link.yaml'] }, ELSEWHERE),
    links: { 'app/link.yaml': '../values/shared.yaml' },
  },
  'an empty value file': dumped(
    { valueFiles: ['empty.yaml', 'comment.yaml'] },
    { 'app/empty.yaml': '', 'app/comment.yaml': '# nothing\n' },
  ),
  'a value file that is no YAML': dumped(
    { valueFiles: ['bad.yaml'] },
    { 'app/bad.yaml': 'a: [\n' },
  ),
  'a value file in JSON': dumped(
    { valueFiles: ['more.json'] },
    { 'app/more.json': '{"color": "json", "nested": {"a": null}}' },
  ),
  'a null in a value file takes a value of the chart away': dumped(
    { valueFiles: ['more.yaml'] },
    { 'app/more.yaml': 'color: null\nnested: {b: null}\nlist: ~\n' },
  ),
  'a null over a map of values that a later file sets again': dumped(
    { valueFiles: ['one.yaml', 'two.yaml'] },
    { 'app/one.yaml': 'nested: null\n', 'app/two.yaml': 'nested: {z: 1}\n' },
  ),
  'a text in place of a map of the chart': dumped(
    { valueFiles: ['more.yaml'] },
    { 'app/more.yaml': 'nested: text\ncolor: {a: 1}\n' },
  ),
  values: dumped({ values: 'color: red\nnested:\n  b:\n    c: y\n' }),
  'values that are no YAML': dumped({ values: 'a: [\n' }),
  'values that are a text': dumped({ values: 'text' }),
  'values with a comment and anchors': dumped({ values: '# ours\na: &a {x: 1}\nb: *a\n' }),
  valuesObject: dumped({
    valuesObject: {
      color: 'red',
      nested: { b: { c: 'y' } },
      list: [],
      yes: 'yes',
      number: '1e3',
      big: 12345678901234,
    },
  }),
  'an empty valuesObject': dumped({ valuesObject: {} }),
  'an empty valuesObject over values': dumped({ valuesObject: {}, values: 'color: red\n' }),
  'valuesObject over values': dumped({
    valuesObject: { count: 2 },
    values: 'color: red\ncount: 3\n',
  }),
  'a null in valuesObject': dumped({
    valuesObject: { color: null, nested: { a: null, b: { e: null } } },
  }),
  'values over value files': dumped({ valueFiles: ['more.yaml'], values: 'color: values\n' }, MORE),
  'values with variables, which stay': dumped({ values: 'color: $ARGOCD_APP_NAME\n' }),
  'a parameter': dumped({ parameters: [param('color', 'red')] }),
  'parameters over values over value files': dumped(
    {
      valueFiles: ['more.yaml'],
      values: 'color: values\ncount: 3\n',
      parameters: [param('color', 'parameter')],
    },
    MORE,
  ),
  'parameters that are a number, true, null and empty': dumped({
    parameters: [
      param('count', '007'),
      param('on', 'false'),
      param('color', 'null'),
      param('text', ''),
      param('float', '1.50'),
      param('big', '12345678901234567890'),
    ],
  }),
  'parameters that are texts': dumped({
    parameters: [
      string('count', '007'),
      string('on', 'false'),
      string('color', 'null'),
      string('text', ''),
      string('nested.a', '1'),
    ],
  }),
  'a parameter of a part, an item and a new list': dumped({
    parameters: [
      param('nested.b.c', 'x'),
      param('list[1]', 'z'),
      param('new[0].name', 'n'),
      param('new[0].value', '1'),
      param('nested.b.e[0]', '5'),
    ],
  }),
  'a parameter with an item behind the end of a list': dumped({
    parameters: [param('list[4]', 'z')],
  }),
  'a parameter with commas, which are escaped': dumped({
    parameters: [param('color', 'a,b=c'), param('text', 'x\\,y')],
  }),
  'a parameter that is a list in braces': dumped({
    parameters: [param('list', '{x,y,z}'), param('empty', '{}')],
  }),
  'a parameter with dots in its key': dumped({
    parameters: [param('nested.a\\.b/c', '1'), param('annotations.example\\.com/x', 'true')],
  }),
  'a parameter with quotes, a backslash and lines': dumped({
    parameters: [param('color', 'a "b" \'c\''), param('text', 'a\\b\nc: d')],
  }),
  'a parameter with equals signs and brackets': dumped({
    parameters: [param('color', 'a=b=c'), param('text', '[1]'), param('more', 'a{b,c}d')],
  }),
  'a parameter with a variable': dumped({
    parameters: [
      param('color', '$ARGOCD_APP_NAME-${ARGOCD_APP_SOURCE_PATH}'),
      string('text', '$$x $NONE.'),
    ],
  }),
  'a parameter with the commit': dumped({
    parameters: [string('color', '$ARGOCD_APP_REVISION_SHORT-${ARGOCD_APP_REVISION_SHORT_8}')],
  }),
  'a parameter twice': dumped({ parameters: [param('color', 'one'), param('color', 'two')] }),
  'a parameter as a value and as a text': dumped({
    parameters: [string('color', 'text'), param('color', 'value')],
  }),
  'a parameter that is no path of a value': dumped({ parameters: [param('color.a', 'x')] }),
  'a parameter without a name': dumped({ parameters: [param('', 'x')] }),
  'a parameter with an open bracket': dumped({ parameters: [param('list[', 'x')] }),
  'parameters of a map and of its key': dumped({
    parameters: [param('nested', 'null'), param('other.key', 'x')],
  }),
  fileParameters: dumped(
    { fileParameters: [{ name: 'color', path: 'text.txt' }] },
    { 'app/text.txt': 'a: 1\nb, c\n' },
  ),
  'fileParameters from the root, above and over parameters': dumped(
    {
      fileParameters: [
        { name: 'color', path: '/files/x' },
        { name: 'nested.a', path: '../files/x' },
      ],
      parameters: [param('color', 'p')],
    },
    { 'files/x': 'of a file' },
  ),
  'a missing file of fileParameters': dumped({
    fileParameters: [{ name: 'color', path: 'none.txt' }],
  }),
  'fileParameters out of the repository': dumped({
    fileParameters: [{ name: 'color', path: '../../x' }],
  }),
  'fileParameters with a variable': dumped(
    { fileParameters: [{ name: 'color', path: '$ARGOCD_APP_NAME.txt' }] },
    { 'app/shop.txt': 'x' },
  ),
  'everything at once': dumped(
    {
      valueFiles: ['more.yaml'],
      valuesObject: { count: 2, nested: { a: 'object' } },
      values: 'count: 3\n',
      parameters: [param('count', '4'), string('text', '5')],
      fileParameters: [{ name: 'nested.b.c', path: 'text.txt' }],
    },
    { ...MORE, 'app/text.txt': 'file' },
  ),
  'a number of a value in a template': printed(
    'a: "{{ .Values.big }} {{ .Values.count }} {{ .Values.f }} {{ .Values.i | int64 }}"',
    {
      values: 'big: 12345678\ni: 12345678\nf: 1.0\n',
      parameters: [param('count', '12345678')],
    },
  ),
}
