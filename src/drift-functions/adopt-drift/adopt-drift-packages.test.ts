/** The function over whole packages: their pipelines, their place, and a config or resources that are broken. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answerCalls, PACKAGE_PATH, PATH, setAnnotation } from '@backporch/kpt/function'
import { writeItems } from '@backporch/kpt/render'
import { convertJsonToYaml, type YamlMap } from '@backporch/kyaml/yaml'
import { builtInFunctions } from '../../../functions/built-in-functions.ts'
import { adopt, LEVEL, REPLICAS, run } from '../../../test/fakes/adopted-package.ts'
import {
  changeOf,
  itemsOf,
  recordOf,
  reportOf,
  treeOf,
  WEB,
} from '../../../test/fakes/drift-package.ts'
import { formatDocument } from '../../record/write-document.ts'
import { renderPackage } from '../../sources/kpt/render/render-package.ts'

test('during a kpt render, paths are relative to each package, and a note reports that an edited Kptfile counts later', () => {
  const labels = [
    'metadata.labels.team',
    'spec.selector.matchLabels.team',
    'spec.template.metadata.labels.team',
  ]
  const texts = {
    Kptfile: WEB['Kptfile'] ?? '',
    'deployment.yaml': (WEB['deployment.yaml'] ?? '').replace(/ # kpt-set: .*/, ''),
  }
  const files = {
    ...texts,
    Kptfile: texts.Kptfile.replace(/ {2}- image: .*\n {4}configPath: .*\n/, ''),
  }
  const inSub = itemsOf({
    'db.yaml':
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: db, labels: {team: store}}\ndata: {a: b}\n',
  })
  for (const item of inSub) setAnnotation(item, PACKAGE_PATH, '/srv/web/db')
  const subKptfile = itemsOf({
    Kptfile: 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: db}\n',
  })
  for (const item of subKptfile) setAnnotation(item, PACKAGE_PATH, '/srv/web/db')
  const own = itemsOf(files)
  for (const item of own) setAnnotation(item, PACKAGE_PATH, '/srv/web')
  const change = changeOf('data.a', {
    git: 'b',
    live: 'c',
    ref: { group: '', kind: 'ConfigMap', namespace: '', name: 'db' },
  })
  const changes = [
    change,
    ...labels.map((path) => changeOf(path, { git: 'store', live: 'sales' })),
    { ...change, path: 'metadata.labels.team', git: 'store', live: 'sales' },
  ]
  const { items, results, exitCode } = adopt({
    items: [...inSub, ...subKptfile, ...own],
    config: treeOf(recordOf(changes)),
  })
  assert.equal(exitCode, 0, JSON.stringify(results))
  assert.deepEqual(items, [...inSub, ...subKptfile, ...own])
  assert.match(writeItems(inSub).get('db.yaml') ?? '', /labels: \{team: sales/)
  assert.match(writeItems(inSub).get('db.yaml') ?? '', /data: \{a: c\}/)
  const file = results.find(({ file: at }) => at?.path === 'Kptfile')
  assert.deepEqual(
    [file?.severity, /render once more/.test(file?.message ?? '')],
    ['warning', true],
  )
})

test('accepts a pipeline that contains the function itself and a failing gate', () => {
  const kptfile = `${WEB['Kptfile']}  - exec: /opt/node functions/adopt-drift/run.ts\n    configPath: setters.yaml\n  validators:\n  - exec: gate-drift\n`
  const { texts, exitCode, results } = run(recordOf([LEVEL]), { ...WEB, Kptfile: kptfile })
  assert.equal(exitCode, 0, JSON.stringify(results))
  assert.match(texts['deployment.yaml'] ?? '', /value: debug\}/)
})

test('reports a pipeline function without a runtime, and writes nothing', () => {
  const { exitCode, results, texts } = run(recordOf([LEVEL]), {
    ...WEB,
    Kptfile: `${WEB['Kptfile']}  - exec: ./mine.sh\n`,
  })
  assert.equal(exitCode, 1)
  assert.match(results[0]?.message ?? '', /mine\.sh/)
  assert.equal(texts['deployment.yaml'], WEB['deployment.yaml'])
})

test('without a Kptfile, writes values to the manifests, with a note', () => {
  const { Kptfile: _, ...texts } = WEB
  const output = run(recordOf([REPLICAS]), texts)
  assert.equal(output.exitCode, 0)
  assert.match(output.texts['deployment.yaml'] ?? '', /replicas: 5 #/)
  assert.equal(output.texts['setters.yaml'], WEB['setters.yaml'])
  assert.match(output.results.at(-1)?.message ?? '', /no Kptfile/)
})

test('finds the package below the folder of the run, and leaves others alone', () => {
  const texts = Object.fromEntries(
    Object.entries(WEB).flatMap(([path, text]) => [
      [`apps/web/${path}`, text],
      [`apps/other/${path}`, text],
    ]),
  )
  const output = run(recordOf([LEVEL]), texts)
  assert.equal(output.exitCode, 0)
  assert.match(output.texts['apps/web/deployment.yaml'] ?? '', /debug/)
  assert.equal(output.texts['apps/other/deployment.yaml'], WEB['deployment.yaml'])
  assert.deepEqual(output.results.at(-1)?.file, { path: 'apps/web/deployment.yaml' })
  const elsewhere = run(
    {
      ...recordOf([LEVEL]),
      spec: {
        ...recordOf([LEVEL]).spec,
        unit: { ...recordOf([]).spec.unit, package: 'apps/gone' },
      },
    },
    texts,
  )
  assert.equal(elsewhere.exitCode, 1)
})

const CONFIGS: readonly (readonly [name: string, config: YamlMap | undefined])[] = [
  ['none', undefined],
  [
    'another kind',
    treeOf({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' }, data: {} }),
  ],
  ['a report without a spec', treeOf({ ...reportOf([]), spec: {} })],
  ['changes of a wrong type', treeOf({ ...reportOf([]), spec: [] })],
]
for (const [name, config] of CONFIGS)
  test(`a config that is not a report fails: ${name}`, () => {
    const { exitCode, results } = adopt({ items: itemsOf(WEB), config })
    assert.equal(exitCode, 1)
    assert.match(results[0]?.message ?? '', /functionConfig/)
  })

test('reports broken resources and continues the run', () => {
  const broken = convertJsonToYaml({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: 'none',
  }) as YamlMap
  const odd = itemsOf({ 'odd.yaml': 'apiVersion: v1\nkind: ConfigMap\n' })
  assert.equal(adopt({ items: [broken], config: treeOf(recordOf([LEVEL])) }).exitCode, 1)
  assert.equal(
    adopt({ items: [...itemsOf(WEB), ...odd], config: treeOf(recordOf([LEVEL])) }).exitCode,
    1,
  )
  for (const item of odd) setAnnotation(item, PATH, '../out.yaml')
  assert.equal(
    adopt({ items: [...itemsOf(WEB), ...odd], config: treeOf(recordOf([LEVEL])) }).exitCode,
    1,
  )
})

test('Backporch renders a package with the function and failing gates in its pipeline', () => {
  const own = `pipeline:
  mutators:
  - exec: adopt-drift
    configPath: drift.yaml
`
  const validators = '  validators:\n  - exec: gate-drift\n  - exec: verify-drift-records\n'
  const texts = {
    ...WEB,
    Kptfile: `${(WEB['Kptfile'] ?? '').replace('pipeline:\n  mutators:\n', own)}${validators}status:\n  conditions:\n  - {type: Drifted, status: "True"}\n`,
    'drift.yaml': formatDocument(recordOf([REPLICAS, LEVEL])),
  }
  const files = Object.entries(texts).map(([path, text]) => ({
    path,
    mode: '100644' as const,
    content: new TextEncoder().encode(text),
  }))
  const rendering = answerCalls(renderPackage('apps/web', files), builtInFunctions)
  assert.ok(!('failures' in rendering), 'failures' in rendering ? rendering.failures[0].why : '')
  const spec = rendering.desired.resources.find(({ id }) => id.kind === 'Deployment')?.object[
    'spec'
  ]
  assert.match(JSON.stringify(spec), /"replicas":5,.*"name":"LEVEL","value":"debug"/)
})
