import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { policyText, TurnWorld } from '../../../../test/fakes/turn-world.ts'
import { readRepository } from '../repository-view.ts'
import { listOtherReaders } from './shared-sources.ts'

const signal = new AbortController().signal
const BASE = 'units/base/config.yaml'
const FILES = {
  [BASE]: 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n',
  'units/base/kustomization.yaml': 'resources: [config.yaml]\n',
  'units/prod/Kptfile': 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: prod}\n',
  'units/prod/kustomization.yaml': 'resources: [../base]\n',
  'units/dev/kustomization.yaml': 'resources: [../base]\n',
  'units/staging/kustomization.yaml': 'resources: [../base]\n',
  'clusters/staging/apps.yaml': `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec:
  sourceRef: {kind: GitRepository, name: flux-system}
  path: ./units/staging
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {url: ssh://git@/deploy, ref: {branch: main}}
`,
  '.drift/prod.yaml': policyText(
    '{mode: Propose, match: {packages: [units/prod]}, render: {tool: kustomize}}',
  ).replace('name: test', 'name: prod'),
}
const READERS = [
  { name: 'units/staging (Flux Kustomization flux-system/apps)', files: [BASE] },
  { name: 'units/dev', files: [BASE] },
]

/** @param failing number of the read of git that fails. @param thrown what it fails with, once where it is no Failure */
async function readersOf(failing: number, thrown: Error = new Error('interrupted')) {
  const { repository } = new TurnWorld('{mode: Propose}', FILES)
  const view = await readRepository(repository, undefined, signal)
  const read = repository.read.bind(repository)
  let reads = 0
  repository.read = async (blobs) => {
    reads += 1
    if (reads === failing) throw thrown
    return read(blobs)
  }
  const find = () => listOtherReaders(view, new Set([BASE]), signal)
  return { find, reads: () => reads }
}

test('names the overlay of a syncer and a kustomization, but no units or bases', async () => {
  const { find } = await readersOf(0)
  assert.deepEqual(await find(), READERS)
})

test('restarts an interrupted search at any point', async () => {
  const whole = await readersOf(0)
  await whole.find()
  const interrupted: number[] = []
  for (let failing = 1; failing <= whole.reads(); failing += 1) {
    const { find } = await readersOf(failing)
    // Some files are read together first, and alone where that fails.
    const first = await find().catch((thrown: Error) => thrown.message)
    if (first === 'interrupted') interrupted.push(failing)
    else assert.deepEqual(first, READERS, `read ${failing}`)
    assert.deepEqual(await find(), READERS, `read ${failing}`)
  }
  assert.ok(interrupted.length > 10, `${interrupted}`)
})

test('skips a file that is too large, and fails without git', async () => {
  const failure = (code: 'BP1111' | 'BP4006') =>
    new Failure({ code, what: 'not read', why: 'a test', remedy: 'none', retry: 'never' })
  const { find, reads } = await readersOf(0)
  await find()
  // The last read is one of a kustomization that others are built through.
  const refused = await readersOf(reads(), failure('BP1111'))
  assert.ok((await refused.find()).length > 0)
  const broken = await readersOf(reads(), failure('BP4006'))
  await assert.rejects(broken.find(), { code: 'BP4006' })
})
