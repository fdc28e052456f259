import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answerCalls, type FunctionLibrary } from '@backporch/kpt/function'
import { passThroughText } from '@backporch/kpt/render'
import { builtInFunctions } from '../../../../functions/built-in-functions.ts'
import { path } from '../../../../test/fakes/live-object.ts'
import {
  APPLY_SETTERS,
  CATALOG,
  filesOf,
  settersConfig,
  webKptfile,
} from '../../../../test/fakes/pipeline-files.ts'
import { renderPackage } from '../render/render-package.ts'
import { FieldOrigins, formatFieldOriginLines } from './field-origin.ts'

const KPTFILE = webKptfile(`${APPLY_SETTERS}    - image: ${CATALOG}/set-labels:v0.2.0
      configMap:
        team: store
    - image: ${CATALOG}/set-labels:v0.2.0
      configMap:
        team: shop
`)
const SETTERS = settersConfig(`  host: shop
  domain: example.com
`)
const CONFIG = `# settings
apiVersion: v1
kind: ConfigMap
metadata:
  name: first
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: web
  labels:
    team: shop
data:
  plain: "yes"
  url: shop.example.com # kpt-set: \${host}.\${domain}
  text: |
    two
    lines
`

function lines(
  location: string,
  functions: FunctionLibrary = builtInFunctions,
  kptfile = KPTFILE,
): readonly string[] {
  const files = filesOf({ Kptfile: kptfile, 'setters.yaml': SETTERS, 'config.yaml': CONFIG })
  const rendering = answerCalls(renderPackage('apps/web', files), functions)
  if ('failures' in rendering) throw rendering.failures[0]
  const desired = rendering.desired.resources.find(({ id }) => id.name === 'web')
  assert.ok(desired !== undefined)
  const origin = new FieldOrigins({ packagePath: 'apps/web', files, functions }).findOrigin(
    desired,
    path(location),
  )
  assert.ok(origin !== undefined)
  return formatFieldOriginLines(origin)
}

test('a field that no function wrote has only its authored location', () => {
  assert.deepEqual(lines('data.plain'), ['apps/web/config.yaml:14:10'])
})

test('reports the full range of a value, with its document', () => {
  const files = filesOf({ Kptfile: KPTFILE, 'setters.yaml': SETTERS, 'config.yaml': CONFIG })
  const rendering = answerCalls(renderPackage('apps/web', files), builtInFunctions)
  assert.ok('desired' in rendering)
  const desired = rendering.desired.resources.find(({ id }) => id.name === 'web')
  assert.ok(desired !== undefined)
  const { authored } =
    new FieldOrigins({ packagePath: 'apps/web', files, functions: builtInFunctions }).findOrigin(
      desired,
      path('data.text'),
    ) ?? {}
  assert.deepEqual(
    { ...authored, endColumn: 0 },
    {
      file: 'apps/web/config.yaml',
      document: 2,
      line: 16,
      column: 9,
      endLine: authored?.endLine,
      endColumn: 0,
    },
  )
  assert.ok((authored?.endLine ?? 0) >= 18)
})

test("a field with setters names the pattern and each value's location, even when the render changes nothing", () => {
  assert.deepEqual(lines('data.url'), [
    'apps/web/config.yaml:15:8',
    'written by apply-setters (step 1, apps/web/Kptfile:7), pattern ${host}.${domain}, from setter host at apps/web/setters.yaml:8:9 and setter domain at apps/web/setters.yaml:9:11',
  ])
})

test('lists both functions that write one field, with the deciding one', () => {
  assert.deepEqual(lines('metadata.labels.team'), [
    'apps/web/config.yaml:12:11',
    'written by set-labels (step 2, apps/web/Kptfile:9), from label team at apps/web/Kptfile:11:15',
    'written by set-labels (step 3, apps/web/Kptfile:12), from label team at apps/web/Kptfile:14:15, which decides',
  ])
})

test('reports an absent field with the parent that it would be added to', () => {
  assert.deepEqual(lines('data.other'), ['not there; it would go into apps/web/config.yaml:14'])
})

test('lists changes of external programs, and keeps the authored location', () => {
  const kptfile = KPTFILE.replace('team: shop', 'team: other')
  assert.deepEqual(
    lines('metadata.labels.team', passThroughText(builtInFunctions), kptfile).slice(0, 1),
    ['apps/web/config.yaml:12:11'],
  )
  assert.match(
    lines('metadata.labels.team', passThroughText(builtInFunctions), kptfile).at(-1) ?? '',
    /set-labels \(step 3, apps\/web\/Kptfile:12\).*which decides$/,
  )
})

test('locates a field that apply-replacements:v0.1.1 copied into in its own file', () => {
  const local =
    'metadata:\n  name: own\n  annotations: {config.kubernetes.io/local-config: "true"}\n'
  const files = filesOf({
    Kptfile: webKptfile(
      `    - image: ${CATALOG}/apply-replacements:v0.1.1\n      configPath: a-replace.yaml\n`,
    ),
    'a-replace.yaml': `apiVersion: fn.kpt.dev/v1alpha1
kind: ApplyReplacements
${local}replacements:
  - source: {kind: ConfigMap, name: own, fieldPath: data.url}
    targets: [{select: {kind: ConfigMap, name: web}, fieldPaths: [data.url]}]
`,
    'a-own.yaml': `apiVersion: v1\nkind: ConfigMap\n${local}data:\n  url: shop.example.com\n`,
    'config.yaml': CONFIG,
  })
  const rendering = answerCalls(renderPackage('apps/web', files), builtInFunctions)
  assert.ok('desired' in rendering)
  const desired = rendering.desired.resources.find(({ id }) => id.name === 'web')
  assert.ok(desired !== undefined)
  const origin = new FieldOrigins({
    packagePath: 'apps/web',
    files,
    functions: builtInFunctions,
  }).findOrigin(desired, path('data.url'))
  assert.deepEqual(origin === undefined ? [] : formatFieldOriginLines(origin), [
    'apps/web/config.yaml:15:8',
    'written by apply-replacements (step 1, apps/web/Kptfile:7)',
  ])
})
