import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '@backporch/kyaml/json'
import { drift } from '../../test/fakes/applier-world.ts'
import { deploymentOf } from '../../test/fakes/syncer-marks.ts'
import { HANGS_AFTER } from '../../test/waiting/wait-until.ts'
import { type Ignored, isIgnoredBySource } from './ignore-rules.ts'
import { IGNORE_SOURCES } from './registry.ts'
import type { DriftedField } from './syncer.ts'

const IMAGE = 'spec.template.spec.containers[name=app].image'
const LIVE = deploymentOf(['ci'], { annotations: { 'example.com/a~b': 'x', tier: 'gold' } })

function field(path: string) {
  return { drift: drift(path), live: LIVE }
}

function ignored(kind: string, own: (rules: Json) => JsonObject) {
  const source = IGNORE_SOURCES.find((one) => one.kind === kind)
  assert.ok(source)
  return (rules: Json, of: DriftedField): Ignored => isIgnoredBySource(source, own(rules), of)
}

const ignoredByFlux = ignored('Kustomization', (ignore) => ({ spec: { ignore } }))
const ignoredByArgo = ignored('Application', (ignoreDifferences) => ({
  spec: { ignoreDifferences },
}))

const FLUX: readonly (readonly [path: string, rule: JsonObject, ignored: Ignored])[] = [
  ['spec.replicas', { paths: ['/spec/replicas'] }, 'yes'],
  ['spec.replicas', { paths: ['/spec'] }, 'yes'],
  ['spec.replicas', { paths: [''] }, 'yes'],
  ['', { paths: [''] }, 'yes'],
  ['', { paths: ['/spec'] }, 'no'],
  ['spec.replicas', { paths: ['/spec/replica'] }, 'no'],
  ['spec', { paths: ['/spec/replicas'] }, 'no'],
  ['spec.replicas', { paths: ['spec/replicas'] }, 'no'],
  // The container `app` is the second of the live list.
  [IMAGE, { paths: ['/spec/template/spec/containers/1/image'] }, 'yes'],
  [IMAGE, { paths: ['/spec/template/spec/containers/0/image'] }, 'no'],
  [
    'metadata.annotations["example.com/a~b"]',
    { paths: ['/metadata/annotations/example.com~1a~0b'] },
    'yes',
  ],
  ['spec.replicas', { paths: ['/spec/replicas'], target: { kind: 'Deploy' } }, 'no'],
  [
    'spec.replicas',
    {
      paths: ['/spec/replicas'],
      target: { kind: 'Deploy.*', group: 'apps', version: 'v1', name: 'web', namespace: 'shop' },
    },
    'yes',
  ],
  ['spec.replicas', { paths: ['/spec/replicas'], target: { version: 'v1beta1' } }, 'no'],
  [
    'spec.replicas',
    { paths: ['/spec/replicas'], target: { labelSelector: 'app in (web, api)' } },
    'yes',
  ],
  [
    'spec.replicas',
    { paths: ['/spec/replicas'], target: { annotationSelector: 'tier!=gold' } },
    'no',
  ],
  ['spec.replicas', { paths: ['/spec/replicas'], target: { name: '(' } }, 'unknown'],
  ['spec.replicas', { paths: ['/spec/replicas'], target: { labelSelector: '!!' } }, 'unknown'],
]

test('Flux rules cover a pointer and everything below it, in targets by anchored patterns and selectors', () => {
  for (const [path, rule, ignored] of FLUX)
    assert.equal(ignoredByFlux([rule], field(path)), ignored, `${path} ${JSON.stringify(rule)}`)
  assert.equal(ignoredByFlux(null, field('spec.replicas')), 'no')
  assert.equal(ignoredByFlux('all', field('spec.replicas')), 'no')
})

const ARGO: readonly (readonly [path: string, rule: JsonObject, ignored: Ignored])[] = [
  ['spec.replicas', { group: 'apps', kind: 'Deployment', jsonPointers: ['/spec/replicas'] }, 'yes'],
  ['spec.replicas', { group: '*', kind: '*', jsonPointers: ['/spec/replicas'] }, 'yes'],
  ['spec.replicas', { group: 'a??s', kind: 'Deploy*', jsonPointers: ['/spec/replicas'] }, 'yes'],
  // No group is the core group.
  ['spec.replicas', { kind: 'Deployment', jsonPointers: ['/spec/replicas'] }, 'no'],
  [
    'spec.replicas',
    {
      group: 'apps',
      kind: 'Deployment',
      name: 'web',
      namespace: 'shop',
      jsonPointers: ['/spec/replicas'],
    },
    'yes',
  ],
  [
    'spec.replicas',
    { group: 'apps', kind: 'Deployment', name: 'we*', jsonPointers: ['/spec/replicas'] },
    'no',
  ],
  [
    'spec.replicas',
    { group: 'apps', kind: 'Deployment', jqPathExpressions: ['.spec.replicas'] },
    'yes',
  ],
  [
    IMAGE,
    {
      group: 'apps',
      kind: 'Deployment',
      jqPathExpressions: ['.spec.template.spec.containers[].image'],
    },
    'yes',
  ],
  [
    IMAGE,
    {
      group: 'apps',
      kind: 'Deployment',
      jqPathExpressions: ['.spec.template.spec.containers[0].image'],
    },
    'no',
  ],
  [
    IMAGE,
    { group: 'apps', kind: 'Deployment', jqPathExpressions: ['.spec.template.spec.containers[1]'] },
    'yes',
  ],
  [
    'metadata.annotations["example.com/a~b"]',
    {
      group: 'apps',
      kind: 'Deployment',
      jqPathExpressions: ['.metadata.annotations["example.com/a~b"]'],
    },
    'yes',
  ],
  [
    IMAGE,
    {
      group: 'apps',
      kind: 'Deployment',
      jqPathExpressions: ['.spec.template.spec.containers[] | select(.name == "app")'],
    },
    'unknown',
  ],
  [
    'spec.replicas',
    { group: 'apps', kind: 'Deployment', managedFieldsManagers: ['kubectl-edit'] },
    'yes',
  ],
  ['spec.replicas', { group: 'apps', kind: 'Deployment', managedFieldsManagers: ['hpa'] }, 'no'],
]

test('Argo CD rules cover kind globs, exact names, pointers, plain jq paths and managers', () => {
  for (const [path, rule, ignored] of ARGO)
    assert.equal(ignoredByArgo([rule], field(path)), ignored, `${path} ${JSON.stringify(rule)}`)
})

// With an engine that goes back this would not end within a lifetime.
test('a hostile pattern or glob does not take for ever', { timeout: HANGS_AFTER }, () => {
  const long = {
    drift: {
      ...drift('spec.replicas'),
      id: { group: 'apps', kind: 'Deployment', namespace: 'shop', name: 'a'.repeat(60) },
    },
    live: LIVE,
  }
  assert.equal(ignoredByFlux([{ paths: [''], target: { name: '(a+)+b' } }], long), 'no')
  const kind = {
    ...long,
    drift: { ...long.drift, id: { ...long.drift.id, kind: 'a'.repeat(5_000) } },
  }
  assert.equal(
    ignoredByArgo([{ group: 'apps', kind: `${'*a'.repeat(30)}b`, jsonPointers: ['/spec'] }], kind),
    'no',
  )
})
