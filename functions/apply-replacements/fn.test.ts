import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { YamlMap } from '@backporch/kyaml/yaml'
import { type Answer, nodes, PORTS, runWith, WEB } from '../../test/fakes/replaced-objects.ts'
import * as fc from '../../test/seeds/fast-check.ts'
import { splitFieldPath } from './field-locations.ts'
import { applyReplacements, applyReplacementsAsWritten } from './fn.ts'

function run(replacements: string, ...texts: readonly string[]): Answer {
  return runWith(applyReplacements, replacements, texts)
}

/** The lines that the second object has and had not. */
function written(source: string, target: string): readonly string[] {
  const { texts, message } = run(
    `[{source: {kind: ConfigMap, ${source}}, targets: [${target}]}]`,
    PORTS,
    WEB,
  )
  assert.equal(message, undefined)
  const before = new Set(WEB.split('\n'))
  return (texts[1] ?? '').split('\n').filter((line) => !before.has(line))
}

/** The answers of the tables are those of kustomize api v0.15.0 to the same inputs. Packages are compared in test/originals. */
const WRITTEN: readonly (readonly [
  name: string,
  source: string,
  target: string,
  lines: readonly string[],
])[] = [
  [
    'a name takes over, and is looked for as a regular expression anywhere in the text',
    'fieldPath: data.image',
    "{select: {name: web}, fieldPaths: ['spec.template.spec.containers.[name=web].image']}",
    ['        image: ghcr.io/shop/web:1.2', '        image: "ghcr.io/shop/web:1.2"'],
  ],
  [
    'an anchored expression does not match a name with a comment behind it',
    'fieldPath: data.image',
    "{select: {name: web}, fieldPaths: ['spec.template.spec.containers.[name=^web-proxy$].image']}",
    ['        image: "ghcr.io/shop/web:1.2"'],
  ],
  [
    'text stays text and a number takes the type of its field',
    'fieldPath: data.number',
    "{select: {kind: Deployment}, fieldPaths: [metadata.labels.app, spec.replicas, 'metadata.annotations.[example.com/a.b]']}",
    ['    app: "8080"', '    example.com/a.b: "8080"', '  replicas: 8080'],
  ],
  [
    'a text where a number stood is written with the tag of the number',
    'fieldPath: data.word',
    '{select: {kind: Deployment}, fieldPaths: [spec.replicas, spec.none, metadata.labels.app]}',
    ['    app: no', '  replicas: !!int no', '  none: !!null no # c'],
  ],
  [
    'a dot in a name is escaped',
    'fieldPath: metadata.name',
    "{select: {kind: Deployment}, fieldPaths: ['metadata.annotations.example\\.com/a\\.b']}",
    ['    example.com/a.b: ports'],
  ],
  [
    'every item of a list, by index, and a value of a list',
    'fieldPath: data.plain',
    "{select: {kind: Deployment}, fieldPaths: ['spec.template.spec.containers.*.image', spec.template.spec.containers.0.args.1, 'spec.template.spec.containers.[name=web].args.[=--port]']}",
    ['        image: "9090"', '        args: ["9090", \'9090\']', '        image: "9090"'],
  ],
  [
    'one part of a value, behind and before all parts',
    "fieldPath: data.image, options: {delimiter: ':', index: 1}",
    "{select: {kind: Deployment}, options: {delimiter: ':', index: 1}, fieldPaths: ['spec.template.spec.containers.[name=web].image', metadata.name]}",
    ['  name: web:1.2', '        image: nginx:1.2', '        image: "envoy:1.2"'],
  ],
  [
    'before the first part',
    'fieldPath: data.plain',
    '{select: {kind: Deployment}, options: {delimiter: /, index: -1}, fieldPaths: [metadata.name]}',
    ['  name: 9090/web'],
  ],
  [
    'what is missing is created, and reads as its text does',
    'fieldPath: data.number',
    "{select: {kind: Deployment}, options: {create: true}, fieldPaths: [spec.strategy.type, 'spec.template.spec.volumes.[name=v].size', 'spec.template.spec.containers.0.args.2']}",
    [
      "        args: [--port, '80', 8080]",
      '      volumes:',
      '      - name: v',
      '        size: 8080',
      '  strategy:',
      '    type: 8080',
    ],
  ],
  [
    'a map is copied whole, with its comments',
    'fieldPath: block',
    "{select: {kind: Deployment}, options: {create: true}, fieldPaths: [spec.selector, 'spec.template.spec.containers.[name=web].args']}",
    [
      '        args:',
      '          a: 1 # one',
      '        args:',
      '          a: 1 # one',
      '  selector:',
      '    a: 1 # one',
    ],
  ],
  [
    'nothing is created below a null',
    'fieldPath: data.number',
    '{select: {kind: Deployment}, options: {create: true}, fieldPaths: [spec.none.x]}',
    [],
  ],
  ['the name is the default on both sides', '', '{select: {kind: Deployment}}', ['  name: ports']],
]

for (const [name, source, target, lines] of WRITTEN) {
  test(name, () => assert.deepEqual(written(source, target), lines))
}

const TWINS = [
  'apiVersion: v1\nkind: A\nmetadata:\n  name: s\n  namespace: default\n',
  'apiVersion: v1\nkind: B\nmetadata:\n  name: one\n  labels:\n    app: x\n',
  'apiVersion: v1\nkind: B\nmetadata:\n  name: two\n  annotations:\n    note: y\n',
  'apiVersion: x.org/v1\nkind: B\nmetadata:\n  name: three\n  namespace: other\n',
]

const SELECTED: readonly (readonly [name: string, target: string, changed: readonly number[]])[] = [
  ['by group', '{select: {group: x.org}}', [3]],
  ['no namespace as the default one', '{select: {kind: B, namespace: default}}', [1, 2]],
  ['by label', "{select: {kind: B, labelSelector: 'app in (x, z)'}}", [1]],
  ['by annotation', '{select: {kind: B, annotationSelector: note}}', [2]],
  ['without objects rejected by name', '{select: {kind: B}, reject: [{name: two}]}', [1, 3]],
  [
    'without objects rejected by label or by name',
    "{select: {kind: B}, reject: [{name: two, labelSelector: 'app=x'}]}",
    [3],
  ],
  ['everything with an empty reject', '{select: {kind: B}, reject: [{}]}', [1, 2, 3]],
]

for (const [name, target, changed] of SELECTED) {
  test(`selects ${name}`, () => {
    const { texts } = run(`[{source: {kind: A}, targets: [${target}]}]`, ...TWINS)
    assert.deepEqual(
      [1, 2, 3].filter((at) => texts[at] !== TWINS[at]),
      changed,
    )
  })
}

const CONTAINERS = 'spec.template.spec.containers'
const FAILING: readonly (readonly [replacements: string, message: string])[] = [
  ['[{targets: []}]', 'replacements must specify a source and at least one target'],
  ['[{source: {kind: ConfigMap}}]', 'replacements must specify a source and at least one target'],
  [
    '[{source: {kind: X, fieldPath: a.b, options: {delimiter: /}}, targets: []}]',
    'nothing selected by X.[noVer].[noGrp]/[noName].[noNs]:a.b:/(0), create=false',
  ],
  [
    '[{source: {}, targets: []}]',
    'multiple matches for selector [noKind].[noVer].[noGrp]/[noName].[noNs]',
  ],
  [
    '[{source: {kind: ConfigMap, name: ports, fieldPath: data.x}, targets: []}]',
    'fieldPath `data.x` is missing for replacement source ConfigMap.[noVer].[noGrp]/ports.[noNs]',
  ],
  [
    '[{source: {kind: ConfigMap, fieldPath: data.nothing}, targets: []}]',
    'fieldPath `data.nothing` is missing for replacement source ConfigMap.[noVer].[noGrp]/[noName].[noNs]',
  ],
  [
    '[{source: {kind: ConfigMap, fieldPath: data.plain.x}, targets: []}]',
    'error looking up replacement source: wrong node kind: expected MappingNode but got ScalarNode: node contents:\n9090\n',
  ],
  [
    "[{source: {kind: ConfigMap, fieldPath: 'data.*'}, targets: []}]",
    'error looking up replacement source: wildcard is not supported in PathGetter',
  ],
  [
    '[{source: {kind: ConfigMap, fieldPath: data.image, options: {delimiter: /, index: 3}}, targets: []}]',
    'options.index 3 is out of bounds for value ghcr.io/shop/web:1.2',
  ],
  [
    '[{source: {kind: ConfigMap, fieldPath: block, options: {delimiter: /}}, targets: []}]',
    'delimiter option can only be used with scalar nodes',
  ],
  ['[{source: {kind: ConfigMap}, targets: [{}]}]', 'target must specify resources to select'],
  [
    '[{source: {kind: ConfigMap}, targets: [{select: {kind: Deployment}, fieldPaths: [spec.x]}]}]',
    'unable to find field "spec.x" in replacement target',
  ],
  [
    `[{source: {kind: ConfigMap}, targets: [{select: {kind: Deployment}, fieldPaths: [${CONTAINERS}.7.x]}]}]`,
    `unable to find field "${CONTAINERS}.7.x" in replacement target: index 7 specified but only 2 elements found`,
  ],
  [
    `[{source: {kind: ConfigMap}, targets: [{select: {kind: Deployment}, options: {create: true}, fieldPaths: ['${CONTAINERS}.[x].y']}]}]`,
    `unable to find or create field "${CONTAINERS}.[x].y" in replacement target: list path element must contain fieldName=fieldValue for element to match`,
  ],
  [
    `[{source: {kind: ConfigMap}, targets: [{select: {kind: Deployment}, fieldPaths: ['${CONTAINERS}.[name=(].y']}]}]`,
    `unable to find field "${CONTAINERS}.[name=(].y" in replacement target: error parsing regexp: missing closing ): \`(\``,
  ],
]

for (const [replacements, message] of FAILING) {
  test(`fails with: ${message.slice(0, 90)}`, () =>
    assert.equal(run(replacements, PORTS, WEB).message, message))
}

test('a missing config, another kind, or a wrong type fails with the original message', () => {
  const messageOf = (config: YamlMap | undefined): string | undefined =>
    applyReplacements({ items: [], config }).results[0]?.message
  assert.equal(messageOf(undefined), 'FunctionConfig is missing. Expect `ApplyReplacements`')
  assert.equal(
    messageOf(nodes('apiVersion: v1\nkind: ConfigMap\n')[0]),
    'received functionConfig of kind ConfigMap and apiVersion v1, only functionConfig of kind ApplyReplacements and apiVersion fn.kpt.dev/v1alpha1 is supported',
  )
  assert.match(
    String(run('[{source: {name: 12}}]').message),
    /^unable to convert functionConfig to replacements:\nreplacements\[0\]\.source\.name /,
  )
  assert.match(String(run('{a: b}').message), /replacements is of type map, and a list is wanted/)
})

test('does not show content of a Secret', () => {
  const secret = 'apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\nstringData:\n  key: hunter2\n'
  for (const source of [
    '{kind: Secret, fieldPath: stringData.key, options: {delimiter: /, index: 9}}',
    '{kind: Secret, fieldPath: stringData.key.x}',
  ]) {
    const { message } = run(`[{source: ${source}, targets: []}]`, secret)
    assert.match(String(message), /out of bounds|wrong node kind/)
    assert.doesNotMatch(String(message), /hunter2/)
  }
})

test('an element that its own expression does not match fails instead of being created endlessly', () => {
  const { message } = run(
    "[{source: {kind: ConfigMap}, targets: [{select: {kind: Deployment}, options: {create: true}, fieldPaths: ['spec.l.[name=^x$].y']}]}]",
    PORTS,
    WEB,
  )
  assert.match(String(message), /an element created for "\[name=\^x\$\]" does not match it/)
})

test('splits a field path at dots that are neither escaped nor in brackets', () => {
  const rows: readonly (readonly [string, readonly string[]])[] = [
    ['a.b', ['a', 'b']],
    ['.a.b', ['a', 'b']],
    ['a\\.b.c', ['a.b', 'c']],
    ['a.[b.c/d].e', ['a', 'b.c/d', 'e']],
    ['a.[n=b.c].e', ['a', '[n=b.c]', 'e']],
    ['a.[b.c', ['a', 'b.c']],
    ['a.[b]', ['a', '[b]']],
    ['', ['']],
  ]
  for (const [path, parts] of rows) assert.deepEqual(splitFieldPath(path), parts, path)
})

test('throws for no path and no options', () => {
  const part = fc.constantFrom(
    'spec',
    'metadata',
    'name',
    'none',
    'template',
    'containers',
    '0',
    '9',
    '-1',
    '-',
    '*',
    '[name=w]',
    '[=(]',
    '[',
    ']',
    '',
    '\\',
    '__proto__',
  )
  const path = fc.array(part, { maxLength: 6 }).map((parts) => parts.join('.'))
  const options = fc.record({
    delimiter: fc.constantFrom('', '/', '.'),
    index: fc.integer({ min: -2, max: 3 }),
    create: fc.boolean(),
  })
  fc.assert(
    fc.property(path, path, options, (from, to, option) => {
      const config = JSON.stringify([
        {
          source: { kind: 'ConfigMap', fieldPath: from },
          targets: [{ select: { kind: 'Deployment' }, fieldPaths: [to], options: option }],
        },
      ])
      for (const each of [config, config.replace('"ConfigMap"', '"Deployment"')])
        for (const replace of [applyReplacements, applyReplacementsAsWritten])
          runWith(replace, each, [PORTS, WEB])
    }),
    { numRuns: 100 },
  )
})

test('rejects a path of thousands of parts instead of walking it', () => {
  const { message } = run(
    `[{source: {kind: ConfigMap, fieldPath: ${'a.'.repeat(100_000)}a}, targets: []}]`,
    PORTS,
  )
  assert.match(String(message), /200 is the limit/)
})
