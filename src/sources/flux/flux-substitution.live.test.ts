/** How postBuild changes objects, compared with Flux's own code. */
import {
  CUSTOM,
  config,
  data,
  fluxCases,
  MERGE,
  over,
  substituted,
  WEB,
} from '../../../test/appliers/flux-cases.ts'

await fluxCases({
  variables: {
    'in a text': data('a: x-${word}-y'),
    'in a key': data('${word}: a'),
    'in a key of metadata': substituted(config('a', 'a: b', '  labels: {"${word}": "x"}\n')),
    'in the name': substituted(config('a-${word}')),
    'in the namespace and kind': substituted(
      config('a', 'a: b', '  namespace: ${word}\n').replace('kind: ConfigMap', 'kind: ${kind}'),
      {
        word: 'shop',
        kind: 'Secret',
      },
    ),
    'two names become one': substituted(`${config('a-${word}')}---\n${config('a-hello')}`),
    'a number becomes a number': substituted(CUSTOM.replace('size: 1', 'size: ${n}'), { n: '5' }),
    'a float, a boolean, null': substituted(
      CUSTOM.replace(
        'size: 1',
        'a: ${a}\n  b: ${b}\n  c: ${c}\n  d: ${d}\n  e: ${e}\n  f: ${f}\n  g: ${g}\n  h: ${h}\n  i: ${i}\n  j: ${j}\n  k: ${k}',
      ),
      {
        a: '1.50',
        b: 'true',
        c: 'null',
        d: 'yes',
        e: '010',
        f: '1e3',
        g: '2001-01-01',
        h: '~',
        i: 'off',
        j: '0x1F',
        k: '0o17',
      },
    ),
    'a number in a quoted text': data('a: "${n}"\nb: \'${n}\'', { n: '5' }),
    'a number beside a text': data('a: ${n}x\nb: "1${n}"', { n: '5' }),
    'a boolean in a string field': data('a: ${n}', { n: 'true' }),
    'a large number that is not a variable': {
      files: {
        'app/a.yaml': CUSTOM.replace('size: 1', 'a: 9223372036854775807\n  b: -9007199254740993'),
      },
      spec: { postBuild: { substitute: { n: '1' } } },
    },
    'a large number': substituted(CUSTOM.replace('size: 1', 'a: ${n}\n  b: ${m}'), {
      n: '12345678901234567890',
      m: '9007199254740993',
    }),
    'a multi-line text': data('a: |\n  one ${word}\n  two ${undefined:=three}\n'),
    'a multi-line text without its last line end': data('a: |-\n  ${word}\n  ${word}'),
    'a script with its own variables': data(
      'run.sh: |\n  echo $HOME $$ $1 $(date) `id`\n  for f in *; do echo "$${f}"; done\n',
    ),
    'a script with variables of the shell': data('run.sh: |\n  echo ${HOME}\n'),
    'a long line': data(`a: "${'word '.repeat(60)}\${word}"`),
    'a text with a colon': data('a: "${x}"\nb: ${x}', { x: 'a: b' }),
    'a text with a quote': data('a: x${x}', { x: '"quoted"' }),
    'a text with a comment': data('a: x${x}', { x: ' # gone' }),
    'a text of JSON': substituted(CUSTOM.replace('size: 1', 'a: ${x}\n  b: ${y}'), {
      x: '{"a": [1, 2]}',
      y: '[a, b]',
    }),
    'a text that breaks the YAML': data('a: ${x}', { x: '{' }),
    'a text that is an anchor': data('a: ${x}', { x: '*gone' }),
    'a text with tabs': data('a: ${x}', { x: 'a\tb' }),
    'a text with an indent': data('a: ${x}', { x: '   a' }),
    'an empty text': data('a: ${x}\nb: "${x}"', { x: '' }),
    'lines are joined': data('a: ${x}', { x: 'one\ntwo\n' }),
    'lines of a ConfigMap are joined': {
      files: { 'app/a.yaml': config('a', 'a: ${x}') },
      spec: { postBuild: { substituteFrom: [{ kind: 'ConfigMap', name: 'v' }] } },
      variables: { x: 'one\ntwo\n' },
    },
    'of a Secret, and its own over them': {
      files: { 'app/a.yaml': config('a', 'a: ${x}\nb: ${y}') },
      spec: {
        postBuild: { substitute: { x: 'own' }, substituteFrom: [{ kind: 'Secret', name: 'v' }] },
      },
      variables: { x: 'given', y: 'given' },
    },
    'none at all': {
      files: { 'app/a.yaml': config('a', 'a: ${x:=d} $${x}') },
      spec: { postBuild: {} },
    },
    'an empty map': {
      files: { 'app/a.yaml': config('a', 'a: ${x:=d} $${x}') },
      spec: { postBuild: { substitute: {} } },
    },
    'nothing that Flux substitutes': { files: { 'app/a.yaml': config('a', 'a: ${x:=d} $${x}') } },
    'undefined, with and without a default': data('a: ${x}\nb: ${x:=d}\nc: ${x:-d}'),
    'a bad one': data('a: ${x'),
    'a bad name': data('a: ${x.y}'),
    'a bad name of a variable that nothing uses': data('a: b', { 'x-y': 'z' }),
    'a name that is a digit': data('a: b', { '1x': 'z' }),
    'a name of a letter that is not ASCII': data('a: b', { ä: 'z' }),
    'in an object that is disabled by an annotation': substituted(
      config(
        'a',
        'a: ${word}',
        '  annotations: {kustomize.toolkit.fluxcd.io/substitute: disabled}\n',
      ),
    ),
    'in an object that is disabled by a label': substituted(
      config('a', 'a: ${word', '  labels: {kustomize.toolkit.fluxcd.io/substitute: disabled}\n'),
    ),
    'in an object with another value of the mark': substituted(
      config('a', 'a: ${word}', '  labels: {kustomize.toolkit.fluxcd.io/substitute: Disabled}\n'),
    ),
    'in an object whose mark is a variable': substituted(
      config('a', 'a: ${word}', '  labels: {kustomize.toolkit.fluxcd.io/substitute: "${state}"}\n'),
      { state: 'disabled', word: 'x' },
    ),
    'the mark in the data': substituted(
      config('a', 'kustomize.toolkit.fluxcd.io/substitute: disabled\nb: ${word}'),
    ),
    'in one object of two': substituted(
      `${config('a', 'a: ${word}', '  annotations: {kustomize.toolkit.fluxcd.io/substitute: disabled}\n')}---\n${config('b', 'a: ${word}')}`,
    ),
    'in a Secret': substituted(
      'apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: "${word}"}\ndata: {b: aGVsbG8=}\n',
    ),
    'in a patch': {
      files: WEB,
      spec: {
        patches: [{ patch: MERGE.replace('{replicas: 5}', '\n  replicas: ${n}') }],
        postBuild: { substitute: { n: '4' } },
      },
    },
    'in an image of the resource': {
      files: WEB,
      spec: {
        images: [{ name: 'nginx', newTag: '${tag}' }],
        postBuild: { substitute: { tag: 'v9' } },
      },
    },
    'in the target namespace and the prefix': {
      files: WEB,
      spec: {
        targetNamespace: '${ns}',
        namePrefix: '${ns}-',
        postBuild: { substitute: { ns: 'shop' } },
      },
    },
    'in a comment': substituted(`# \${word\n${config('a', 'a: b # ${word')}`),
    'in the kustomization': over('namePrefix: ${word}-\ncommonLabels: {x: "${word}"}\n', {
      postBuild: { substitute: { word: 'hello' } },
    }),
    'two keys become one': data('${word}: a\nhello: b'),
    'an integer key': data('${n}: a', { n: '5' }),
    'a boolean key': data('${n}: a', { n: 'yes' }),
    'a value that is a document': data('a: ${x}', { x: '---' }),
    'a text that looks like a separator': data('a: |\n  ---\n  ${word}\n'),
    'a label that becomes a number': substituted(
      config('a', 'a: b', '  labels:\n    n: ${n}\n    m: x\n'),
      { n: '5' },
    ),
    'an annotation that becomes a boolean': substituted(
      config('a', 'a: b', '  annotations:\n    n: ${n}\n    m: x\n'),
      { n: 'true' },
    ),
    'a text of several lines that begins with a tab': data('a: "\\tb\\nc"'),
    'a text of one line that begins with a tab': data('a: "\\tb"'),
    'a later line that begins with a tab': data('a: |\n  b\n  \tc'),
    'a text of several lines that begins with a tab, without substitution': {
      files: { 'app/a.yaml': config('a', 'a: "\\tb\\nc"') },
    },
    'a name that becomes a number': substituted(config('${n}'), { n: '5' }),
    'an empty name': substituted(config('${x}'), { n: '5' }),
    'escapes of a quoted text': data('a: "\\t${word}\\n\\u00e4\\\\"'),
    'letters of other languages': data('a: ${ä}${x}', { x: 'äöß世界' }),
    'a value with its own variable': data('a: ${x}', { x: '${word} $${word}' }),
  },
})
