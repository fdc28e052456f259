/** `controller --config` as a process: the file is a mounted ConfigMap, which the kubelet replaces as a whole, and much can be wrong with it. */
import assert from 'node:assert/strict'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { parse, stringify } from 'yaml'
import type { ControlPlane } from '../controlplane/control-plane.ts'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import {
  configPackage,
  gatedPushes,
  PROPOSE,
  paint,
  startWatching,
  type WatchingController,
} from './watched-world.ts'
import { openWorld, refsOfPeople, type World } from './world.ts'

const PRELOADED = `--import=${new URL('../faults/counted-reads.ts', import.meta.url).href}`

/** A folder as the kubelet mounts a ConfigMap: `controller.yaml` is a link through `..data`, which one rename replaces. */
class Mount {
  readonly path: string
  /** Of the controller: it says when it has read the file. */
  readonly env: NodeJS.ProcessEnv
  private readonly folder: string
  private readonly reads: string
  private present = ''

  constructor(world: World, text: string) {
    this.folder = join(world.folder, 'mount')
    mkdirSync(this.folder)
    this.path = join(this.folder, 'controller.yaml')
    this.reads = join(world.folder, 'reads')
    writeFileSync(this.reads, '')
    this.env = {
      NODE_OPTIONS: PRELOADED,
      BACKPORCH_TEST_READ_FILE: this.path,
      BACKPORCH_TEST_READS: this.reads,
    }
    symlinkSync('..data/controller.yaml', this.path)
    this.swap((file) => writeFileSync(file, text))
  }

  /** Waits until the controller has read the file so often again. */
  async looks(controller: WatchingController, more: number): Promise<void> {
    const count = (): number => readFileSync(this.reads).length
    const before = count()
    await controller.until(`the file is read ${more} times`, () => count() >= before + more)
  }

  write(text: string): void {
    this.swap((file) => writeFileSync(file, text))
  }

  /** @param make makes what is at the path of the file */
  swap(make: (file: string) => void): void {
    const next = mkdtempSync(join(this.folder, '..2026_'))
    make(join(next, 'controller.yaml'))
    const link = join(this.folder, '..data_tmp')
    symlinkSync(next, link)
    renameSync(link, join(this.folder, '..data'))
    if (this.present !== '') rmSync(this.present, { recursive: true })
    this.present = next
  }
}

/** @param repositories contexts by path of the repository */
function config(repositories: ReadonlyMap<string, readonly string[]>): string {
  const spec = { repositories: [...repositories].map(([repo, contexts]) => ({ repo, contexts })) }
  return stringify({ apiVersion: 'backporch.dev/v1alpha1', kind: 'ControllerConfig', spec })
}

/** The server under two names. */
function twoContexts(world: World, { kubeconfig }: ControlPlane): string {
  const known = parse(readFileSync(kubeconfig, 'utf8')) as {
    readonly contexts: readonly { readonly context: object }[]
  }
  const path = join(world.folder, 'two.kubeconfig')
  const contexts = ['edge-1', 'edge-2'].map((name) => ({
    name,
    context: known.contexts[0]?.context,
  }))
  writeFileSync(path, stringify({ ...known, contexts }))
  return path
}

await controlPlaneSuite('a changing configuration', {}, (plane) => {
  async function opened(
    t: TestContext,
    name: string,
  ): Promise<{ readonly world: World; readonly namespace: string }> {
    const namespace = await plane.namespace(name)
    const world = await openWorld(t, plane, {
      ...configPackage(name, namespace, ['a1', 'a2', 'a3']),
      ...PROPOSE,
    })
    await world.sync(`apps/${name}`)
    return { world, namespace }
  }
  const configured = (controller: WatchingController) =>
    controller.events('configured').map(({ added, changed, removed }) => [added, changed, removed])

  test('keeps the last good configuration when the file is invalid, and reports each fault once', async (t) => {
    const { world, namespace } = await opened(t, 'one')
    const good = config(new Map([[world.repository, ['test']]]))
    const mount = new Mount(world, good)
    const controller = await startWatching(t, world, ['--config', mount.path], mount.env)
    let edits = 0
    /** A hand edit reaches the repository. */
    const works = async (why: string): Promise<void> => {
      edits += 1
      await paint(world, namespace, 'a1', `shade${edits}`)
      const text = `shade${edits}`
      await controller.until(`it works while the file ${why}`, async () => {
        const [branch] = await world.proposals()
        return (
          branch !== undefined &&
          (await world.remote('log', '-1', '--format=%B', branch)).includes(text)
        )
      })
    }
    await works('is good')
    const bad: readonly (readonly [why: string, code: string, make: (file: string) => void])[] = [
      ['is half written', 'BP1005', (file) => writeFileSync(file, good.slice(0, -12))],
      ['is empty', 'BP1005', (file) => writeFileSync(file, '')],
      ['has no repository', 'BP1005', (file) => writeFileSync(file, config(new Map()))],
      ['is a folder', 'BP1001', (file) => mkdirSync(file)],
      ['is not there', 'BP1001', () => undefined],
    ]
    const unreadable = (file: string): void => {
      writeFileSync(file, good)
      chmodSync(file, 0)
    }
    // Root reads everything.
    const all =
      process.getuid?.() === 0 ? bad : [...bad, ['must not be read', 'BP1001', unreadable] as const]
    for (const [at, [why, code, make]] of all.entries()) {
      const before = controller.events('failure').length
      mount.swap(make)
      await controller.until(`the file ${why}`, () => controller.events('failure').length > before)
      await works(why)
      if (at === 0 || why === 'is a folder') await mount.looks(controller, 4)
      const told = controller.events('failure').slice(before)
      assert.deepEqual(
        told.map((one) => one['code']),
        [code],
        why,
      )
      const recovered = controller.events('recovered').length
      mount.write(good)
      await controller.until(
        `the file is good after it ${why}`,
        () => controller.events('recovered').length > recovered,
      )
    }
    assert.deepEqual(configured(controller), [], 'nothing was started again')
    await controller.stop()
  })

  test('adding and removing a repository during a push completes the push, deletes nothing and duplicates nothing', async (t) => {
    const [one, two] = [await opened(t, 'kept'), await opened(t, 'moved')]
    const [alone, both] = [
      new Map([[one.world.repository, ['test']]]),
      new Map([one, two].map(({ world }) => [world.repository, ['test']])),
    ]
    const mount = new Mount(one.world, config(alone))
    const pushes = [one, two].map(({ world }) => gatedPushes(world))
    const [ofOne, ofTwo] = [pushes[0] ?? assert.fail(), pushes[1] ?? assert.fail()]
    const controller = await startWatching(t, one.world, ['--config', mount.path], mount.env)

    ofOne.hold()
    await paint(one.world, one.namespace, 'a1', 'blue')
    await controller.until('the first is in a push', ofOne.isHeld)
    mount.write(config(both))
    await controller.until('the other works meanwhile', async () =>
      (await two.world.refs()).has('refs/heads/drift-ledger'),
    )
    assert.deepEqual(configured(controller), [[1, 0, 0]])
    ofOne.release()
    await controller.until('the push ends', async () => (await one.world.proposals()).length === 1)

    ofTwo.hold()
    await paint(two.world, two.namespace, 'a1', 'blue')
    await controller.until('the other is in a push', ofTwo.isHeld)
    mount.write(config(alone))
    // It is used when two looks found it; the push is waited for.
    await mount.looks(controller, 2)
    await ofTwo.staysHeld()
    assert.deepEqual(await two.world.proposals(), [])
    ofTwo.release()
    await controller.until('it is removed', () => configured(controller).length === 2)
    assert.deepEqual(configured(controller)[1], [0, 0, 1])
    const left = await refsOfPeople(two.world)
    assert.equal((await two.world.proposals()).length, 1, 'its turn came to its end')
    await paint(two.world, two.namespace, 'a2', 'green')
    await paint(one.world, one.namespace, 'a2', 'green')
    await controller.until('the first goes on', () =>
      controller.transitions().includes('updated apps/kept Drifted'),
    )
    await controller.looks(2)
    assert.deepEqual(await refsOfPeople(two.world), left, 'nothing of it is touched any more')

    mount.write(config(both))
    await controller.until('it goes on where it was', () =>
      controller.transitions().includes('updated apps/moved Drifted'),
    )
    for (const { world } of [one, two]) {
      assert.equal((await world.proposals()).length, 1)
      await world.remote('fsck', '--strict')
    }
    assert.deepEqual(controller.failures(), [])
    await controller.stop()
  })

  test('removing a cluster during a turn keeps its records, and the other cluster continues', async (t) => {
    const { world, namespace } = await opened(t, 'fleet')
    const pushes = gatedPushes(world)
    const of = (...contexts: readonly string[]): string =>
      config(new Map([[world.repository, contexts]]))
    const mount = new Mount(world, of('edge-1', 'edge-2'))
    const controller = await startWatching(
      t,
      world,
      ['--config', mount.path, '--kubeconfig', twoContexts(world, plane)],
      mount.env,
    )
    await paint(world, namespace, 'a1', 'blue')
    await controller.until('both are proposed', async () => (await world.proposals()).length === 2)
    pushes.hold()
    await paint(world, namespace, 'a2', 'blue')
    await controller.until('it is in a push', pushes.isHeld)
    mount.write(of('edge-1'))
    await mount.looks(controller, 2)
    await pushes.staysHeld()
    pushes.release()
    await controller.until('it is removed', () => configured(controller).length === 1)
    assert.deepEqual(configured(controller), [[0, 1, 0]])
    const turns = controller.events('turn').length
    await paint(world, namespace, 'a3', 'blue')
    await controller.until('the other goes on', () =>
      controller
        .events('turn')
        .slice(turns)
        .some(({ writes }) => Number(writes) > 0),
    )
    await controller.looks(3)
    assert.equal((await world.proposals()).length, 2)
    const ledger = await world.remote('ls-tree', '-r', '--name-only', 'drift-ledger')
    assert.match(ledger, /^clusters\/edge-2\/apps--fleet\/report\.yaml$/m)
    await controller.stop()
  })
})
