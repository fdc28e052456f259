/** `controller --kubernetes-events` on a real API server: what `kubectl get events` shows, and what the account may not. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { logEvents } from '../fakes/log-events.ts'
import { Controller } from './controller-process.ts'
import { policy, webPackage } from './packages.ts'
import { openWorld, type World } from './world.ts'

const FLAGS = ['--interval', '1s', '--kubernetes-events']

interface WrittenEvent {
  readonly metadata: { readonly name: string }
  readonly type: string
  readonly reason: string
  readonly note: string
  readonly regarding: Readonly<Record<string, string>>
  readonly series?: { readonly count: number }
}

await controlPlaneSuite(
  'Kubernetes Events',
  { controllerManager: true, auditLevel: 'RequestResponse' },
  (plane) => {
    async function inSync(
      t: TestContext,
    ): Promise<{ readonly world: World; readonly namespace: string }> {
      const namespace = await plane.namespace('events')
      const secret = `apiVersion: v1\nkind: Secret\nmetadata: {name: login, namespace: ${namespace}}\ndata: {password: dGVh}\n`
      const files = { ...webPackage(namespace), 'apps/web/secret.yaml': secret }
      const world = await openWorld(t, plane, {
        ...files,
        ...policy('mode: Propose\ndetect: {minAge: 0s, settle: 0s}'),
      })
      await world.sync('apps/web')
      await world.settled(namespace, 'web', 3)
      return { world, namespace }
    }

    async function eventsOf(world: World, namespace: string): Promise<readonly WrittenEvent[]> {
      const listed = await world.kubectl(
        'get',
        'events.v1.events.k8s.io',
        '-n',
        namespace,
        '-o',
        'json',
      )
      const all: readonly (WrittenEvent & { reportingController: string })[] =
        JSON.parse(listed).items
      return all.filter(
        ({ reportingController }) => reportingController === 'backporch.dev/controller',
      )
    }

    let commits = 0

    /** A controller at rest makes no turn: a commit to the package brings one. */
    async function makeTurn(controller: Controller, world: World): Promise<void> {
      const turns = (): number => logEvents(controller.stderr, 'turn').length
      await controller.until('a first turn', () => turns() > 0)
      const before = turns()
      commits += 1
      await world.commit(
        { 'apps/web/README.md': `Commit ${commits}.\n` },
        'docs(web): count commits',
      )
      await controller.until('a turn about the commit', () => turns() > before)
    }

    /** Requests of a user that may change something and are no dry run. */
    function writesOf(user: string): readonly string[] {
      assert.ok(plane.auditLog !== undefined)
      const lines = readFileSync(plane.auditLog, 'utf8').split('\n')
      return lines
        .filter((line) => line.includes(`"${user}"`))
        .map((line) => JSON.parse(line))
        .filter(({ user: { username } }) => username === user)
        .filter(
          ({ verb, requestURI }) =>
            ['create', 'update', 'patch', 'delete'].includes(verb) &&
            !requestURI.includes('dryRun=All'),
        )
        .map(({ verb, objectRef }) => `${verb} ${objectRef.resource}.${objectRef.apiGroup ?? ''}`)
    }

    test('drift is one Warning and its end one Normal; a restart repeats neither, and repeats are counted', async (t) => {
      const { world, namespace } = await inSync(t)
      const first = new Controller(t, world, FLAGS)
      await first.until('a first turn', () => first.did('status').length > 0)
      assert.deepEqual(await eventsOf(world, namespace), [], 'nothing drifted')
      await world.kubectl('scale', 'deployment/web', '--replicas=5', '-n', namespace)
      await first.until('a Warning', async () => (await eventsOf(world, namespace)).length > 0)
      const live = JSON.parse(
        await world.kubectl('get', 'deployment/web', '-n', namespace, '-o', 'json'),
      )
      const [event] = await eventsOf(world, namespace)
      assert.deepEqual([event?.type, event?.reason], ['Warning', 'DriftDetected'])
      assert.match(event?.note ?? '', /^spec\.replicas 3 → 5 by kubectl/)
      const { resourceVersion, ...regarding } = event?.regarding ?? {}
      assert.deepEqual(regarding, {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        namespace,
        name: 'web',
        uid: live.metadata.uid,
      })
      assert.match(resourceVersion ?? '', /^\d+$/)
      assert.match(
        await world.kubectl('get', 'events', '-n', namespace),
        /Warning +DriftDetected +deployment\/web +spec\.replicas 3 → 5/,
      )
      assert.match(
        await world.kubectl('describe', 'deployment/web', '-n', namespace),
        /Warning +DriftDetected/,
      )
      first.send('SIGTERM')
      await first.exited

      const second = new Controller(t, world, FLAGS)
      await makeTurn(second, world)
      assert.equal((await eventsOf(world, namespace)).length, 1)
      await world.kubectl('scale', 'deployment/web', '--replicas=3', '-n', namespace)
      await second.until('a Normal', async () => (await eventsOf(world, namespace)).length > 1)
      const gone = (await eventsOf(world, namespace)).find(({ reason }) => reason === 'DriftGone')
      assert.deepEqual([gone?.type, gone?.regarding['uid']], ['Normal', live.metadata.uid])

      await world.kubectl('scale', 'deployment/web', '--replicas=5', '-n', namespace)
      const repeated = async () =>
        (await eventsOf(world, namespace)).find(({ series }) => series !== undefined)
      await second.until('it is counted', async () => (await repeated()) !== undefined)
      assert.deepEqual(
        [(await repeated())?.reason, (await repeated())?.series?.count],
        ['DriftDetected', 2],
      )
      assert.equal((await eventsOf(world, namespace)).length, 2)
      second.send('SIGTERM')
      assert.equal((await second.exited).code, 0)
      assert.deepEqual(logEvents(second.stderr, 'failure'), [])
    })

    test('writes no events without the flag or in a dry run; a missing right is one note, and turns succeed', async (t) => {
      const { world, namespace } = await inSync(t)
      const user = `${namespace}-reader`
      const rules = ['--verb=get,list,watch,patch', '--resource=*.*']
      await plane.kubectl(['create', 'clusterrole', user, ...rules])
      await plane.kubectl([
        'create',
        'clusterrolebinding',
        user,
        `--clusterrole=${user}`,
        `--user=${user}`,
      ])
      const kubeconfig = await plane.kubeconfigFor(user)
      const canary = randomBytes(12).toString('hex')
      await world.kubectl(
        'patch',
        'secret/login',
        '-n',
        namespace,
        '-p',
        JSON.stringify({ stringData: { password: canary } }),
      )

      const rehearsed = new Controller(t, world, [...FLAGS, '--dry-run'])
      await makeTurn(rehearsed, world)
      rehearsed.send('SIGTERM')
      await rehearsed.exited
      assert.deepEqual(await eventsOf(world, namespace), [])

      const controller = new Controller(t, world, FLAGS, { KUBECONFIG: kubeconfig })
      await controller.until('proposed', () => controller.did('proposed').length > 0)
      const notes = () =>
        logEvents(controller.stderr, 'note').filter(({ cause }) => cause === 'events-not-written')
      await controller.until('a note', () => notes().length > 0)
      await makeTurn(controller, world)
      assert.equal(notes().length, 1)
      assert.match(
        String(notes()[0]?.['msg']),
        /apiGroups: \["events\.k8s\.io"\], resources: \["events"\], verbs: \["create", "patch"\]/,
      )
      assert.ok(
        logEvents(controller.stderr, 'turn').every(({ outcome }) => outcome === 'succeeded'),
      )
      assert.deepEqual(await eventsOf(world, namespace), [])
      controller.send('SIGTERM')
      await controller.exited
      assert.deepEqual(
        new Set(writesOf(user)),
        new Set(['create events.events.k8s.io']),
        'the one refused request, and no other write',
      )

      await plane.kubectl([
        'create',
        'role',
        user,
        '-n',
        namespace,
        '--verb=create,patch',
        '--resource=events.events.k8s.io',
      ])
      await plane.kubectl([
        'create',
        'rolebinding',
        user,
        '-n',
        namespace,
        `--role=${user}`,
        `--user=${user}`,
      ])
      await world.kubectl(
        'patch',
        'secret/login',
        '-n',
        namespace,
        '-p',
        JSON.stringify({ stringData: { password: 'tea' } }),
      )
      const allowed = new Controller(t, world, FLAGS, { KUBECONFIG: kubeconfig })
      await makeTurn(allowed, world)
      await allowed.until('a Normal', async () =>
        (await eventsOf(world, namespace)).some(({ reason }) => reason === 'DriftGone'),
      )
      await world.kubectl(
        'patch',
        'secret/login',
        '-n',
        namespace,
        '-p',
        JSON.stringify({ stringData: { password: canary } }),
      )
      await allowed.until('a Warning', async () =>
        (await eventsOf(world, namespace)).some(({ reason }) => reason === 'DriftDetected'),
      )
      allowed.send('SIGTERM')
      await allowed.exited
      const text = JSON.stringify(await eventsOf(world, namespace))
      assert.match(text, /data\.password •••• → /)
      for (const form of [canary, Buffer.from(canary).toString('base64')])
        assert.ok(!text.includes(form))
    })
  },
)
