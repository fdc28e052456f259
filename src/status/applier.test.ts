import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LiveState } from '@backporch/kyaml/resource'
import {
  APPLICATION,
  drift,
  FORBIDDEN,
  judged,
  KUSTOMIZATION,
  present,
  ROOT_SYNC,
  WEB,
} from '../../test/fakes/applier-world.ts'
import { deploymentOf } from '../../test/fakes/syncer-marks.ts'
import { listClaims } from '../syncers/claims.ts'
import { type Applier, determineApplier } from './applier.ts'

test('names two appliers of one object, and knows their behavior only when they agree', () => {
  const own = { [KUSTOMIZATION]: { spec: { interval: '1m' } }, [APPLICATION]: { spec: {} } }
  const both = judged({ by: ['kustomization', 'argo'], own })
  assert.match(
    both.warning ?? '',
    /several syncers apply this package: Argo CD Application web \(1 object\) and Flux Kustomization apps\/web \(1 object\); 1 of them has more than one syncer/,
  )
  assert.equal(both.restores, 'unknown')
  assert.match(both.sentence, /synced by hand.*; Flux Kustomization/)
  assert.equal(
    both.command,
    'argocd app sync web && flux reconcile kustomization web -n apps --with-source',
  )
})

test('an applier of only undrifted objects decides nothing, and is named', () => {
  const more = {
    'apps/Deployment/shop/other': present(deploymentOf(['helm'], {}, 'other')),
    'apps/Deployment/shop/third': present(deploymentOf(['helm'], {}, 'third')),
  }
  const applier = judged({
    by: ['kustomization'],
    own: { [KUSTOMIZATION]: { spec: { interval: '1m' } } },
    more,
  })
  assert.equal(applier.name, 'Flux Kustomization apps/web')
  assert.equal(applier.restores, 'at-interval')
  assert.match(
    applier.warning ?? '',
    /^several syncers apply this package: Helm release shop\/web \(2 objects\) and Flux Kustomization apps\/web \(1 object\)$/,
  )
})

test('reports no applier only when all objects were read', () => {
  const object = { ...deploymentOf(['ci']), metadata: { name: 'web', namespace: 'shop' } }
  const ask = (live: ReadonlyMap<string, LiveState>): Applier =>
    determineApplier({
      claims: listClaims(live),
      live,
      own: new Map(),
      drifts: [],
      syncer: undefined,
      packagePath: 'apps/web',
      pipeline: false,
    })
  const nobody = ask(new Map([[WEB, present(object)]]))
  assert.deepEqual([nobody.name, nobody.restores], ['nobody', 'never'])
  assert.equal(
    nobody.command,
    'kubectl apply --server-side --force-conflicts --field-manager=kubectl -R -f apps/web',
  )
  const partly = ask(
    new Map<string, LiveState>([
      [WEB, present(object)],
      ['/Secret/shop/a', { state: 'unreadable', failure: FORBIDDEN }],
    ]),
  )
  assert.equal(partly.restores, 'unknown')
  assert.match(partly.sentence, /1 of 2 objects could not be read \(BP3003/)
  assert.equal(ask(new Map([[WEB, { state: 'absent' }]])).restores, 'unknown')
})

test('for a package with a pipeline, applies the rendered object files and not the function configs', () => {
  const live = new Map([[WEB, present(deploymentOf(['ci']))]])
  const syncer = { manager: 'ci', operation: 'Apply', subresource: '' } as const
  const question = {
    claims: [],
    live,
    own: new Map(),
    drifts: [],
    syncer,
    packagePath: 'apps/web',
    pipeline: true,
  }
  const files = ['apps/web/a b.yaml', 'apps/web/web.yaml']
  assert.equal(
    determineApplier({ ...question, files }).command,
    "kpt fn render apps/web && kubectl apply --server-side --force-conflicts --field-manager=ci -f 'apps/web/a b.yaml' -f apps/web/web.yaml",
  )
  // An object that a function makes, or too many files to name.
  for (const other of [
    undefined,
    Array.from({ length: 21 }, (_, index) => `apps/web/${index}.yaml`),
  ])
    assert.equal(
      determineApplier({ ...question, files: other }).command,
      'backporch render apps/web -o unwrap | kubectl apply --server-side --force-conflicts --field-manager=ci -f -',
    )
  assert.equal(determineApplier({ ...question, files: [] }).command, undefined)
})

test('names the object files when the folder holds other files that kubectl reads', () => {
  const live = new Map([[WEB, present(deploymentOf(['ci']))]])
  const syncer = { manager: 'ci', operation: 'Update', subresource: '' } as const
  const question = {
    claims: [],
    live,
    own: new Map(),
    drifts: [],
    syncer,
    packagePath: 'apps/web',
    pipeline: false,
  }
  const files = ['apps/web/web.yaml']
  assert.equal(determineApplier({ ...question, files }).command, 'kubectl apply -R -f apps/web')
  assert.equal(
    determineApplier({ ...question, files, otherFiles: true }).command,
    'kubectl apply -f apps/web/web.yaml',
  )
})

test('for a root package, applies the files of its objects and not the records beside them', () => {
  const syncer = { manager: 'ci', operation: 'Update', subresource: '' } as const
  const live = new Map([[WEB, present(deploymentOf(['ci']))]])
  const question = {
    claims: [],
    live,
    own: new Map(),
    drifts: [],
    syncer,
    packagePath: '',
    pipeline: false,
  }
  const command = (files: readonly string[] | undefined): string | undefined =>
    determineApplier({ ...question, files }).command
  assert.equal(command(['-a.yaml', 'apps/web.yaml']), 'kubectl apply -f ./-a.yaml -f apps/web.yaml')
  const many = Array.from({ length: 21 }, (_, index) => `apps/${index}.yaml`)
  assert.equal(
    determineApplier({ ...question, files: ['a.yaml'], render: { tool: 'files' } }).command,
    'kubectl apply -f a.yaml',
  )
  for (const files of [undefined, many])
    assert.equal(command(files), 'backporch render . -o unwrap | kubectl apply -f -')
  assert.equal(command([]), undefined)
})

test('a syncer named only by its field manager is not mistaken for a person with kubectl', () => {
  for (const manager of [
    'kustomize-controller',
    'helm-controller',
    'argocd-controller',
    'configsync.gke.io',
    'fleetagent',
  ]) {
    const live = new Map([[WEB, present(deploymentOf(['ci']))]])
    const syncer = { manager, operation: 'Apply', subresource: '' } as const
    const applier = determineApplier({
      claims: [],
      live,
      own: new Map(),
      drifts: [],
      syncer,
      packagePath: 'apps/web',
      pipeline: false,
    })
    assert.equal(applier.restores, 'unknown', manager)
  }
})

test('does not treat a resource as absent when the reader gave no answer', () => {
  const live = new Map([[WEB, present(deploymentOf(['rootSync']))]])
  const applier = determineApplier({
    claims: listClaims(live),
    live,
    own: new Map(),
    drifts: [],
    syncer: undefined,
    packagePath: '',
    pipeline: false,
  })
  assert.equal(applier.restores, 'unknown')
})

test('hostile names appear only as printable characters in text and only quoted in shell commands', () => {
  const manager = "ci'; rm -rf ~ #\u001b[31m\u202e`@all`"
  const live = new Map([[WEB, present(deploymentOf(['ci']))]])
  const syncer = { manager, operation: 'Apply', subresource: '' } as const
  const question = {
    claims: [],
    live,
    own: new Map(),
    drifts: [],
    syncer,
    packagePath: '-o $(id)',
    pipeline: false,
  }
  const applier = determineApplier(question)
  for (const text of [applier.name, applier.sentence]) assert.match(text, /^[\x20-\x7e]+$/)
  assert.equal(applier.command, undefined)
  const quoted = determineApplier({ ...question, syncer: { ...syncer, manager: "ci'; id" } })
  assert.ok(
    quoted.command?.endsWith("--field-manager='ci'\\''; id' -R -f './-o $(id)'"),
    quoted.command,
  )
})

test('does not reveal a credential in a path', () => {
  const hidden = drift('metadata.annotations["ghp_0123456789abcdefghijklmnopqrstuvwxyz"]')
  const annotations = { 'client.lifecycle.config.k8s.io/mutation': 'ignore' }
  const { sentence } = judged({
    by: ['rootSync'],
    own: { [ROOT_SYNC]: { spec: {} } },
    annotations,
    drifts: [hidden],
  })
  assert.match(sentence, /Deployment shop\/web metadata\.annotations\["credential:redacted"\]/)
})
