/** Which files of a repository the discovery of units reads. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { policyText, refused, TurnWorld, yaml } from '../../../../test/fakes/turn-world.ts'

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

test('files outside packages are read only if a syncer of the cluster applies the repository', async () => {
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

const MIRROR = SYNC.replace(
  'ssh://git@/other',
  'https://bot:hunter2@git.internal:8443/team/deploy.git',
)
const WITHOUT_PACKAGE = {
  'apps/web/Kptfile': null,
  'apps/web/deployment.yaml': null,
  'apps/web/config.yaml': null,
}

function mirrorWorld(alsoKnownAs?: string): TurnWorld {
  const world = new TurnWorld('{mode: Propose}', {
    'clusters/config.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n',
  })
  world.repository.commitByHand('main', {
    ...WITHOUT_PACKAGE,
    ...(alsoKnownAs === undefined
      ? {}
      : { '.drift/addresses.yaml': policyText(alsoKnownAs).replace('test', 'addresses') }),
  })
  for (const text of [MIRROR, APPS]) world.cluster.put(yaml(text))
  return world
}

test('a source with a similar address is suggested, without its password, if no unit was found', async () => {
  const { why } = await refused(mirrorWorld().scan(), 'BP1004')
  assert.match(
    why,
    /Flux Kustomization flux-system\/apps: it applies https:\/\/git.internal:8443\/team\/deploy.git; if that is this repository, name the address in alsoKnownAs of a DriftPolicy/,
  )
  assert.doesNotMatch(why, /hunter2/)
})

test('a source of another repository, or beside a package, is not reported', async () => {
  const other = mirrorWorld()
  other.cluster.put(yaml(MIRROR.replace('/deploy.git', '/other.git')))
  assert.doesNotMatch((await refused(other.scan(), 'BP1004')).why, /alsoKnownAs/)
  const packaged = new TurnWorld()
  for (const text of [MIRROR, APPS]) packaged.cluster.put(yaml(text))
  assert.deepEqual((await packaged.scan()).view.problems, [])
})

test('an address in alsoKnownAs belongs to the repository, in any form', async () => {
  for (const address of [
    'https://git.internal:8443/team/deploy',
    'git@git.internal:team/deploy.git',
  ]) {
    const { view } = await mirrorWorld(
      `{match: {clusters: [none]}, alsoKnownAs: ["${address}"]}`,
    ).scan()
    assert.deepEqual([...(view.policies.synced?.get('prod')?.keys() ?? [])], ['clusters'], address)
  }
  await refused(mirrorWorld('{alsoKnownAs: ["https://git.internal/team/other"]}').scan(), 'BP1004')
})
