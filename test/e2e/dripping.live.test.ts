/** One controller, and four repositories whose servers send a byte a second: the refs, the pack, the forge and the API server. */
import { rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { stringify } from 'yaml'
import { startGitHttpBackend } from '../contract/git-http-backend.ts'
import { gitTestEnvironment } from '../contract/git-remotes.ts'
import type { ControlPlane } from '../controlplane/control-plane.ts'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { httpFaults } from '../faults/http-faults.ts'
import { configPackage, PROPOSE, paint, WatchingController } from './watched-world.ts'
import { openWorld, type World } from './world.ts'

/** Milliseconds between two bytes. */
const DRIP = 1_000

/** Answers for ever, a byte at a time. */
function drip(response: ServerResponse, type: string, beginning: string): true {
  response.writeHead(200, { 'content-type': type })
  if (beginning !== '') response.write(beginning)
  const timer = setInterval(() => response.write(' '), DRIP)
  response.once('close', () => clearInterval(timer))
  return true
}

/** The same packages in three repositories, each behind its own fault. @returns their addresses */
async function serveDripping(t: TestContext, world: World): Promise<readonly string[]> {
  const dripping = ({ url = '' }: IncomingMessage, response: ServerResponse): boolean => {
    if (url.startsWith('/refs.git/info/refs'))
      return drip(
        response,
        'application/x-git-upload-pack-advertisement',
        '001e# service=git-upload-pack\n0000f000',
      )
    if (url.startsWith('/pack.git/git-upload-pack'))
      return drip(response, 'application/x-git-upload-pack-result', 'f000')
    return url.startsWith('/api/v1') && drip(response, 'application/json', '{')
  }
  const names = ['refs', 'pack', 'team/forge']
  for (const name of names)
    await world.remote(
      'clone',
      '--quiet',
      '--bare',
      world.repository,
      join(world.folder, 'served', `${name}.git`),
    )
  const backend = await startGitHttpBackend({
    root: join(world.folder, 'served'),
    environment: gitTestEnvironment(world.folder),
    fault: dripping,
  })
  t.after(() => backend.close())
  return names.map((name) => `${backend.url}/${name}.git`)
}

async function dripAll(t: TestContext, plane: ControlPlane): Promise<string> {
  const faults = await httpFaults(plane)
  t.after(() => faults.close())
  faults.plan = () => ({ drip: DRIP })
  return faults.kubeconfig
}

await controlPlaneSuite('slow-drip servers', {}, (plane) => {
  test('four of them delay no other repository, and the log, the probe and a metric name them', async (t) => {
    const namespace = await plane.namespace('dripping')
    const world = await openWorld(t, plane, {
      ...configPackage('web', namespace, ['a1']),
      ...PROPOSE,
    })
    await world.sync('apps/web')
    const [refs = '', pack = '', forge = ''] = await serveDripping(t, world)
    const slowCluster = join(world.folder, 'slow.git')
    await world.remote('clone', '--quiet', '--bare', world.repository, slowCluster)
    const repositories = [
      { repo: refs, forge: 'local', contexts: ['test'] },
      { repo: pack, forge: 'local', contexts: ['test'] },
      { repo: forge, forge: 'gitea', contexts: ['test'] },
      {
        repo: slowCluster,
        clusters: [{ name: 'slow', context: 'test', kubeconfig: await dripAll(t, plane) }],
      },
      { repo: world.repository, contexts: ['test'] },
    ]
    const config = join(world.folder, 'controller.yaml')
    writeFileSync(
      config,
      stringify({
        apiVersion: 'backporch.dev/v1alpha1',
        kind: 'ControllerConfig',
        spec: { repositories },
      }),
    )
    const options = ['--interval', '2s', '--http-address', '127.0.0.1:0', '--config', config]
    const controller = new WatchingController(t, world, options, {
      BACKPORCH_TOKEN: 'any',
      GITEA_TOKEN: 'any',
    })
    for (const color of ['blue', 'green', 'gray']) {
      await paint(world, namespace, 'a1', color)
      await controller.until(`${color} is in a proposal`, async () => {
        const [branch] = await world.proposals()
        return (
          branch !== undefined &&
          (await world.remote('log', '-1', '--format=%B', branch)).includes(color)
        )
      })
    }
    const slow = (): readonly unknown[] =>
      controller.events('slow').map(({ repository }) => repository)
    for (const name of ['refs', 'pack', 'forge'])
      await controller.until(`the turn of ${name} is slow`, () =>
        slow().some((repository) => String(repository).endsWith(name)),
      )
    await controller.until('the probe names one that runs', async () =>
      / its turn runs for /.test((await controller.get('/readyz')).body),
    )
    await controller.until(
      'a turn runs for long',
      async () => (await controller.metric('workqueue_longest_running_processor_seconds')) > 30,
    )
    rmSync(config)
  })
})
