/** What the controller retains over its own death, and what becomes of the units when the cluster takes something away while it is watched. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { controlPlaneStartSuite } from '../controlplane/control-plane-suite.ts'
import { handsOf } from '../controlplane/server-hands.ts'
import { waitUntil } from '../waiting/wait-until.ts'
import { kptfile } from './packages.ts'
import {
  dryRuns,
  ledgerOf,
  openWatched,
  paint,
  reportsOf,
  startWatching,
  statesOf,
  WatchingController,
} from './watched-world.ts'
import { refsOfPeople, type World } from './world.ts'

/** Looks within which a change is proposed, as they are counted; it waits for nobody. */
const SOON = 10

await controlPlaneStartSuite('a controller that is killed', () => {
  test('after kill -9 it requests only what changed, and reports and ignores a damaged snapshot', async (t) => {
    const { plane, world, namespace } = await openWatched(t)
    const fresh = await dryRuns(plane)
    const first = await startWatching(t, world)
    await first.looks(3)
    const all = (await dryRuns(plane)) - fresh
    assert.ok(all > 0, 'a first start asks about the objects')
    await first.kill()

    /** @returns dry runs of a start, until it watches and a while passed */
    const restarted = async (shows: readonly string[], proposals = 0): Promise<number> => {
      const before = await dryRuns(plane)
      const controller = await startWatching(t, world)
      await controller.until(
        `${proposals} proposals`,
        async () => (await world.proposals()).length === proposals,
      )
      await controller.looks(3)
      await controller.kill()
      const notes = controller.events('note').map(({ cause }) => cause)
      assert.deepEqual(
        notes.filter((cause) => cause === 'verdicts-not-read'),
        shows,
      )
      assert.deepEqual(controller.failures(), [])
      return (await dryRuns(plane)) - before
    }
    const unchanged = await restarted([])
    await paint(world, namespace, 'a2', 'blue')
    const changed = await restarted([], 1)
    assert.equal((await world.proposals()).length, 1)
    const still = await restarted([], 1)
    await paint(world, namespace, 'a2', 'red')
    const back = await restarted([])
    assert.deepEqual(await world.proposals(), [])
    t.diagnostic(
      `dry runs: first ${all}, unchanged ${unchanged}, one changed ${changed}, still drifted ${still}, taken back ${back}`,
    )
    assert.equal(unchanged, 0)
    assert.equal(changed, 1)
    assert.equal(back, 1)

    const path = snapshotOf(world)
    const whole = readFileSync(path)
    writeFileSync(path, whole.subarray(0, whole.length - 40))
    assert.equal(await restarted(['verdicts-not-read']), all, 'cut off')
    const flipped = readFileSync(path)
    flipped[Math.floor(flipped.length / 2)] = (flipped[Math.floor(flipped.length / 2)] ?? 0) ^ 1
    writeFileSync(path, flipped)
    assert.equal(await restarted(['verdicts-not-read']), all, 'one bit is another')
    writeFileSync(path, '')
    assert.equal(await restarted(['verdicts-not-read']), all, 'empty')
    rmSync(dirname(path), { recursive: true })
    assert.equal(await restarted([]), all, 'gone')
    assert.equal(await restarted([]), 0)
    assert.deepEqual(await statesOf(world), { 'apps/shop': 'InSync', 'apps/web': 'InSync' })
  })

  test('when the right to a watched kind is revoked, its units say why and others continue', async (t) => {
    const { plane, world, namespace } = await openWatched(t, (own) => ({
      'apps/net/Kptfile': kptfile('net'),
      'apps/net/service.yaml': `apiVersion: v1\nkind: Service\nmetadata:\n  name: net\n  namespace: ${own}\nspec:\n  selector: {app: web}\n  ports:\n  - port: 80\n`,
    }))
    await world.sync('apps/net')
    await plane.kubectl([
      'create',
      'clusterrole',
      'all-but',
      '--verb=get,list,watch,patch',
      '--resource=configmaps,namespaces',
    ])
    await plane.kubectl([
      'create',
      'clusterrolebinding',
      'all-but',
      '--clusterrole=all-but',
      '--user=looker',
    ])
    const reading = [
      'customresourcedefinitions.apiextensions.k8s.io',
      'mutatingwebhookconfigurations.admissionregistration.k8s.io',
    ]
    reading.push(
      'validatingwebhookconfigurations.admissionregistration.k8s.io',
      'validatingadmissionpolicies.admissionregistration.k8s.io',
    )
    reading.push('validatingadmissionpolicybindings.admissionregistration.k8s.io')
    await plane.kubectl([
      'create',
      'clusterrole',
      'epochs',
      '--verb=get,list,watch',
      `--resource=${reading.join(',')}`,
    ])
    await plane.kubectl([
      'create',
      'clusterrolebinding',
      'epochs',
      '--clusterrole=epochs',
      '--user=looker',
    ])
    await plane.kubectl([
      'create',
      'clusterrole',
      'services',
      '--verb=get,list,watch,patch',
      '--resource=services',
    ])
    await plane.kubectl([
      'create',
      'clusterrolebinding',
      'services',
      '--clusterrole=services',
      '--user=looker',
    ])
    const controller = await startWatching(t, world, [
      '--kubeconfig',
      await plane.kubeconfigFor('looker'),
    ])
    assert.equal((await statesOf(world))['apps/net'], 'InSync')

    await plane.kubectl(['delete', 'clusterrolebinding', 'services'])
    const listing = { user: 'looker', groups: [] }
    const mayList = async () =>
      (await plane.request('GET', '/api/v1/services', { as: listing })).status === 200
    await waitUntil('the server has heard of it', async () => !(await mayList()))
    const service = world.read('apps/net/service.yaml')
    await world.commit(
      { 'apps/net/service.yaml': `# Of the shop.\n${service}` },
      'docs(net): whose it is',
    )
    await controller.until('Unknown', async () => (await statesOf(world))['apps/net'] === 'Unknown')
    assert.deepEqual(
      (await reportsOf(world)).get('apps/net')?.status.incomplete?.map(({ code }) => code),
      ['BP3003'],
    )
    await paint(world, namespace, 'a1', 'blue')
    const looks = await controller.looksUntil(
      'the other goes on',
      () => controller.did('proposed').length === 1,
    )
    assert.ok(looks <= SOON, `${looks} looks`)
    assert.equal((await ledgerOf(world)).reachable, true)
    assert.deepEqual(await statesOf(world), {
      'apps/net': 'Unknown',
      'apps/shop': 'InSync',
      'apps/web': 'Drifted',
    })

    await plane.kubectl([
      'create',
      'clusterrolebinding',
      'services',
      '--clusterrole=services',
      '--user=looker',
    ])
    await controller.until(
      'it is read again',
      async () => (await statesOf(world))['apps/net'] === 'InSync',
    )
    await controller.stop()
  })

  test('when a watched custom kind is removed, its units say so, others continue, and it recovers', async (t) => {
    const definition = JSON.stringify({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'gadgets.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { kind: 'Gadget', plural: 'gadgets' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: {
              openAPIV3Schema: {
                type: 'object',
                properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } },
              },
            },
          },
        ],
      },
    })
    const { plane, world, namespace } = await openWatched(t, (own) => ({
      'apps/gadget/Kptfile': kptfile('gadget'),
      'apps/gadget/gadget.yaml': `apiVersion: example.com/v1\nkind: Gadget\nmetadata:\n  name: one\n  namespace: ${own}\nspec:\n  size: 3\n`,
    }))
    const define = async (): Promise<void> => {
      await plane.kubectl(['apply', '--filename=-'], { stdin: definition })
      await plane.kubectl([
        'wait',
        '--for=condition=Established',
        'crd/gadgets.example.com',
        '--timeout=4m',
      ])
      await world.sync('apps/gadget')
    }
    await define()
    const controller = await startWatching(t, world)
    assert.equal((await statesOf(world))['apps/gadget'], 'InSync')
    await plane.kubectl(['delete', 'crd', 'gadgets.example.com'])
    await controller.until(
      'Unknown',
      async () => (await statesOf(world))['apps/gadget'] === 'Unknown',
    )
    await paint(world, namespace, 'a1', 'blue')
    const looks = await controller.looksUntil('the other goes on', () =>
      controller.did('proposed').some((one) => one['package'] === 'apps/web'),
    )
    assert.ok(looks <= SOON, `${looks} looks`)
    await controller.looks(3)
    t.diagnostic(
      `the unit of the kind: ${(await statesOf(world))['apps/gadget']}; ${controller.transitions().join(', ')}; ${controller.failures()}`,
    )
    await define()
    await controller.until(
      'in sync again',
      async () => (await statesOf(world))['apps/gadget'] === 'InSync',
    )
    await controller.stop()
  })

  test('does not believe another cluster that answers at the same address', async (t) => {
    const { plane, world, namespace } = await openWatched(t)
    const controller = await startWatching(t, world)
    await paint(world, namespace, 'b1', 'blue')
    await controller.until('proposed', () => controller.did('proposed').length === 1)
    const refs = await refsOfPeople(world)
    const [server, store] = [handsOf(t, plane, 'kube-apiserver'), handsOf(t, plane, 'etcd')]
    await server.kill()
    await store.kill()
    const folder = join(dirname(plane.kubeconfig), 'etcd')
    renameSync(folder, `${folder}-before`)
    store.launch()
    await server.start()
    await plane.kubectl(['create', 'namespace', namespace])
    await controller.looks(2)
    // A turn about these units reads the other cluster at once.
    const text = world.read('apps/web/config.yaml')
    await world.commit({ 'apps/web/config.yaml': `# The shop.\n${text}` }, 'docs(web): whose it is')
    await controller.until(
      'it says so',
      () => controller.failures().includes('BP3015') || controller.sights().length > 1,
    )
    await controller.looks(3)
    const proposals = async () =>
      [...(await refsOfPeople(world))].filter(([ref]) => ref !== 'refs/heads/main')
    assert.deepEqual(
      await proposals(),
      [...refs].filter(([ref]) => ref !== 'refs/heads/main'),
    )
    await controller.until('the ledger says so', async () => !(await ledgerOf(world)).reachable)
    t.diagnostic(`${JSON.stringify(await ledgerOf(world))} ${controller.failures()}`)
    await controller.stop()

    // A new process knows from the ledger which cluster it was.
    const next = await startRefused(t, world)
    assert.deepEqual(
      await proposals(),
      [...refs].filter(([ref]) => ref !== 'refs/heads/main'),
    )
    assert.ok(next.includes('BP3015'), next.join(' '))
    await server.kill()
    await store.kill()
    rmSync(folder, { recursive: true })
    renameSync(`${folder}-before`, folder)
    store.launch()
    await server.start()
    const last = await startWatching(t, world)
    await last.until('as before', async () => (await statesOf(world))['apps/shop'] === 'Drifted')
    assert.deepEqual(
      await proposals(),
      [...refs].filter(([ref]) => ref !== 'refs/heads/main'),
    )
    await last.stop()
  })

  test('reports an expired token once, does not retry in a loop, and recovers with a new one', async (t) => {
    const { plane, world, namespace } = await openWatched(t)
    const account = async (): Promise<string> => {
      await plane.kubectl(['create', 'serviceaccount', 'looker', '-n', namespace])
      return (await plane.kubectl(['create', 'token', 'looker', '-n', namespace])).stdout.trim()
    }
    const user = `--serviceaccount=${namespace}:looker`
    await plane.kubectl([
      'create',
      'clusterrolebinding',
      'looker',
      '--clusterrole=cluster-admin',
      user,
    ])
    const file = join(world.folder, 'token')
    writeFileSync(file, await account())
    const kubeconfig = join(world.folder, 'token.kubeconfig')
    writeFileSync(kubeconfig, tokenConfig(plane, file))
    const controller = await startWatching(t, world, ['--kubeconfig', kubeconfig])
    const server = handsOf(t, plane, 'kube-apiserver')
    await plane.kubectl(['delete', 'serviceaccount', 'looker', '-n', namespace])
    // The server forgets that it accepted the token, and the streams end.
    await server.kill()
    await server.start()
    const text = world.read('apps/web/config.yaml')
    await world.commit({ 'apps/web/config.yaml': `# The shop.\n${text}` }, 'docs(web): whose it is')
    await controller.until('it says so', () => controller.failures().includes('BP3002'))
    const before = await controller.metric('backporch_api_requests_total', 'code="4xx"')
    await controller.looks(7)
    const asked = (await controller.metric('backporch_api_requests_total', 'code="4xx"')) - before
    t.diagnostic(`${asked} requests in 7 looks that were refused; ${controller.failures()}`)
    assert.ok(asked < 30, `${asked} requests that were refused`)
    assert.deepEqual(await world.proposals(), [])
    writeFileSync(file, await account())
    const looks = await controller.looksUntil('in sync', async () => {
      const states = await statesOf(world)
      return (await ledgerOf(world)).reachable && states['apps/web'] === 'InSync'
    })
    t.diagnostic(`healed after ${looks} looks`)
    await controller.kill()
  })
})

function snapshotOf(world: World): string {
  const home = join(world.folder, 'home')
  const files = readdirSync(home, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && /[/\\]verdicts(?:[/\\]|$)/.test(entry.parentPath),
  )
  const [file, ...more] = files
  assert.ok(
    file !== undefined && more.length === 0,
    `one snapshot: ${files.map((each) => each.name).join(', ')}`,
  )
  return join(file.parentPath, file.name)
}

function tokenConfig(
  { url, caData }: { readonly url: string; readonly caData: string },
  tokenFile: string,
): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    clusters: [{ name: 'test', cluster: { server: url, 'certificate-authority-data': caData } }],
    users: [{ name: 'looker', user: { tokenFile } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'looker' } }],
  })
}

/** @returns the codes of the failures of a controller that starts, after a while */
async function startRefused(
  t: Parameters<typeof startWatching>[0],
  world: World,
): Promise<string[]> {
  const controller = new WatchingController(t, world, ['--interval', '2s'])
  await controller.until('a failure', () => controller.failures().length > 0)
  await controller.until('it tried once more', () => controller.events('turn').length > 1)
  await controller.kill()
  return controller.failures()
}
