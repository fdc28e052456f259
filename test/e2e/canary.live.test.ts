/** The value of a Secret appears in no object of the repository, no file of ours and no output. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Change } from '../../src/record/documents/change.ts'
import type { ControlPlane } from '../controlplane/control-plane.ts'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { testEachSeed } from '../seeds/seeds.ts'
import {
  CanarySearch,
  encodingsOf,
  filesBelow,
  gitObjects,
  type Location,
} from './canary-search.ts'
import { policy, webPackage } from './packages.ts'
import { openWorld, type World } from './world.ts'

const IN_A_LIFE =
  'a whole life of drift in Secrets shows none of their values, with every output and with --debug'
const ON_FAILURES =
  'nor on the ways that fail: rights missing, a refused dry run, a refused write, a kubeconfig with a token'

await controlPlaneSuite('canary', {}, (plane) => {
  testEachSeed(import.meta.filename, IN_A_LIFE, {}, async (t, seed) => {
    const canaries = makeCanaries(seed, [
      'git',
      'live-changed',
      'live-added',
      'live-env',
      'live-url',
      'last-applied',
    ])
    const { world, namespace } = await open(t, plane, { gitSide: canaries.get('git') ?? '' })
    await editSecrets(world, namespace, canaries)

    const diff = await world.backporch('diff', '-o', 'json', '--debug')
    const changes: Change[] = JSON.parse(diff.stdout).items[0].spec.changes
    assert.deepEqual(changes.map(({ path, redacted }) => `${path} ${redacted}`).sort(), [
      'data.database true',
      'data.more true',
      'data.password true',
      'metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"] true',
      'spec.template.spec.containers[name=app].env[name=DB_PASSWORD] true',
    ])
    for (const output of ['wide', 'yaml']) await world.backporch('diff', '-o', output, '--debug')
    await world.backporch('scan', '--debug')
    await world.backporch('explain', 'apps/web', '--debug')
    for (const output of ['wide', 'json']) await world.backporch('get', 'drifts', '-o', output)
    for (const verb of ['adopt', 'release', 'restore'])
      await world.backporch(verb, 'apps/web', '--debug', '-o', 'json')
    await world.backporch('release', 'apps/web', 'secret/login')
    await world.backporch('approve', '--yes', '--debug', '--wait', '--wait-timeout', '1s')
    await world.backporch('history', '-o', 'yaml')
    await world.backporch('scan', '--debug')
    assert.ok((await world.refs()).has('refs/tags/apps/web/v1'), 'a decision was merged')
    await assertNowhere(world, canaries)
  })

  testEachSeed(import.meta.filename, ON_FAILURES, {}, async (t, seed) => {
    const canaries = makeCanaries(seed, [
      'git',
      'live-changed',
      'live-added',
      'live-env',
      'live-url',
      'last-applied',
      'token',
    ])
    const more = policy('mode: Propose\nsettle: backporch')
    const { world, namespace } = await open(t, plane, { gitSide: canaries.get('git') ?? '', more })
    await editSecrets(world, namespace, canaries)
    // An immutable Secret: every apply of it is refused, and the server's message may quote what it got.
    await world.kubectl('patch', 'secret/login', '-n', namespace, '-p', '{"immutable":true}')
    await world.backporch('scan', '--debug')
    await world.backporch('approve', '--yes', '--debug')
    assert.match(world.calls.at(-1)?.stderr ?? '', /BP3011/)

    const rights = await someRights(plane, namespace)
    for (const kubeconfig of [rights, await plane.kubeconfigFor(`${namespace}-nobody`)]) {
      for (const output of ['table', 'json'])
        await world.backporch('diff', '--debug', '-o', output, '--kubeconfig', kubeconfig)
      await world.backporch('scan', '--debug', '--kubeconfig', kubeconfig)
    }
    const token = join(world.folder, 'token.kubeconfig')
    world.write('../token.kubeconfig', tokenKubeconfig(plane, canaries.get('token') ?? ''))
    await world.backporch('diff', '--debug', '--kubeconfig', token)
    assert.match(world.calls.at(-1)?.stderr ?? '', /BP3002/)
    await assertNowhere(world, canaries, [token])
  })

  test('the search finds a canary value in each form and each place', async (t) => {
    const [value = ''] = makeCanaries(1, ['planted']).values()
    const { world } = await open(t, plane)
    const forms = encodingsOf(value)
    await world.commit(
      Object.fromEntries(forms.map((form, index) => [`apps/web/${index}.txt`, `x${form}y\n`])),
      'oops',
    )
    await world.backporch('diff', value)
    const search = searchFor(new Map([['planted', value]]))
    for (const locations of [gitObjects(world.folder), filesBelow(world.checkout)]) {
      const found = [...search.find(locations).values()].flat()
      assert.deepEqual(
        forms.filter((form) => !found.some((where) => where.endsWith(`(as ${form})`))),
        [],
      )
    }
    assert.equal(search.find(world.calls.map(outputOf)).size, 1)
  })
})

/** Names to values that no other text contains. */
function makeCanaries(seed: number, names: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    names.map((name) => [
      name,
      `canary/${createHash('sha256').update(`${seed} ${name}`).digest('hex').slice(0, 24)}+${name}?`,
    ]),
  )
}

const SECRET = 'apps/web/secret.yaml'

function secretManifest(namespace: string, password: string): string {
  return `apiVersion: v1
kind: Secret
metadata:
  name: login
  namespace: ${namespace}
data:
  password: ${Buffer.from(password).toString('base64')}
`
}

async function open(
  t: TestContext,
  plane: ControlPlane,
  { gitSide = 'only in git', more = policy('mode: Propose') } = {},
): Promise<{ world: World; namespace: string }> {
  const namespace = await plane.namespace('canary')
  const world = await openWorld(t, plane, {
    ...webPackage(namespace),
    [SECRET]: secretManifest(namespace, gitSide),
    ...more,
  })
  await world.sync('apps/web')
  return { world, namespace }
}

/** Values in a Secret, and credentials in other kinds that their name or form gives away. */
async function editSecrets(
  world: World,
  namespace: string,
  canaries: ReadonlyMap<string, string>,
): Promise<void> {
  const of = (name: string): string => canaries.get(name) ?? assert.fail(name)
  const patch = (object: string, body: object): Promise<string> =>
    world.kubectl('patch', object, '-n', namespace, '--type=strategic', '-p', JSON.stringify(body))
  await patch('secret/login', {
    stringData: { password: of('live-changed'), more: of('live-added') },
  })
  const env = [{ name: 'DB_PASSWORD', value: of('live-env') }]
  await patch('deployment/web', {
    spec: { template: { spec: { containers: [{ name: 'app', env }] } } },
  })
  await patch('configmap/web', {
    data: { database: `postgres://shop:${encodeURIComponent(of('live-url'))}@db/shop` },
  })
  const applied = JSON.stringify({ stringData: { password: of('last-applied') } })
  await patch('secret/login', {
    metadata: { annotations: { 'kubectl.kubernetes.io/last-applied-configuration': applied } },
  })
}

/** A user who may read everything of the namespace but Secrets, and may apply nothing. */
async function someRights(plane: ControlPlane, namespace: string): Promise<string> {
  const user = `${namespace}-reader`
  const rules = [
    '--verb=get,list',
    '--resource=configmaps,deployments.apps',
    `--namespace=${namespace}`,
  ]
  await plane.kubectl(['create', 'role', 'reader', ...rules])
  await plane.kubectl([
    'create',
    'rolebinding',
    'reader',
    '--role=reader',
    `--user=${user}`,
    `--namespace=${namespace}`,
  ])
  return plane.kubeconfigFor(user)
}

function tokenKubeconfig(plane: ControlPlane, token: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'c', cluster: { server: plane.url, 'certificate-authority-data': plane.caData } },
    ],
    users: [{ name: 'u', user: { token } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'c',
  })
}

async function assertNowhere(
  world: World,
  canaries: ReadonlyMap<string, string>,
  except: readonly string[] = [],
): Promise<void> {
  // The manifest itself is somebody's own commit, and it is where the value is.
  const authored = await world.git('rev-parse', `HEAD:${SECRET}`)
  const locations = [
    ...gitObjects(world.folder, (id) => id === authored),
    ...filesBelow(
      world.folder,
      (path) => path === join(world.checkout, SECRET) || except.includes(path),
    ),
    ...world.calls.map(outputOf),
  ]
  assert.ok(locations.length > 20, 'there is something to search')
  const found = searchFor(canaries).find(locations)
  assert.deepEqual([...found], [])
}

function searchFor(canaries: ReadonlyMap<string, string>): CanarySearch {
  return new CanarySearch(new Map([...canaries].map(([name, value]) => [name, [value]])))
}

function outputOf({ command, stdout, stderr }: World['calls'][number]): Location {
  return { where: command, content: Buffer.from(`${stdout}\n${stderr}`) }
}
