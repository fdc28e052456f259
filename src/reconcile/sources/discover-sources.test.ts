/** What the discovery of units reads of a repository. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TurnWorld, yaml } from '../../../test/fakes/turn-world.ts'

const SYNC = `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {ref: {branch: main}, url: "ssh://git@/other"}
`
const APPS = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec: {sourceRef: {kind: GitRepository, name: flux-system}, path: ./clusters}
`

test('files outside of packages are read only where a syncer of the cluster applies the repository', async () => {
  const read = async (files: readonly string[]): Promise<boolean> => {
    const world = new TurnWorld('{mode: Propose}', { 'clusters/apps.yaml': APPS })
    for (const text of files) world.cluster.put(yaml(text))
    const { repository } = world
    const ids = new Set<string>()
    const inner = repository.read.bind(repository)
    repository.read = (wanted, ...rest) => {
      for (const id of wanted) ids.add(id)
      return inner(wanted, ...rest)
    }
    const { view } = await world.scan()
    return view.tree.some(({ path, id }) => path === 'clusters/apps.yaml' && ids.has(id))
  }
  assert.equal(await read([]), false)
  assert.equal(await read([SYNC, APPS]), false)
  assert.equal(await read([SYNC.replace('/other', '/deploy'), APPS]), true)
})
