/** `backporch rbac` on a real API server: an account with these rights alone observes as the administrator does, and can do nothing else. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { listDocumentObjects, parseGoYaml } from '@backporch/kyaml/read-yaml'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { logEvents } from '../fakes/log-events.ts'
import { waitUntil } from '../waiting/wait-until.ts'
import { Controller } from './controller-process.ts'
import { policy, webPackage } from './packages.ts'
import { assertExit, openWorld, type World } from './world.ts'

function formatStatefulSet(namespace: string): string {
  return `apiVersion: apps/v1
kind: StatefulSet
metadata: {name: queue, namespace: ${namespace}}
spec:
  replicas: 1
  selector: {matchLabels: {app: queue}}
  template:
    metadata: {labels: {app: queue}}
    spec: {containers: [{name: queue, image: example.com/queue}]}
`
}

interface AuditEvent {
  readonly user: { readonly username: string }
  readonly verb: string
  readonly requestURI: string
  readonly responseStatus?: { readonly code: number }
  readonly objectRef?: {
    readonly resource: string
    readonly apiGroup?: string
    readonly subresource?: string
  }
}

interface Rule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly verbs: readonly string[]
}

interface Manifest {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly rules?: readonly Rule[]
}

const TOO_MUCH = /^✗ .*the account may do more than Backporch ever does/m

await controlPlaneSuite(
  'an account with the rights of backporch rbac',
  { controllerManager: true, auditLevel: 'Metadata' },
  (plane) => {
    interface Shop {
      readonly world: World
      readonly namespace: string
      /** ServiceAccount as `rbac --account` names it. */
      readonly account: string
      readonly user: string
      /** Of the account. */
      readonly kubeconfig: string
    }

    async function openShop(t: TestContext): Promise<Shop> {
      const namespace = await plane.namespace('shop')
      const own = await plane.namespace('account')
      const secret = `apiVersion: v1\nkind: Secret\nmetadata: {name: login, namespace: ${namespace}}\ndata: {password: dGVh}\n`
      const world = await openWorld(t, plane, {
        ...webPackage(namespace),
        'apps/web/secret.yaml': secret,
        'apps/web/queue.yaml': formatStatefulSet(namespace),
        ...policy('mode: Warn\ndetect: {minAge: 0s, settle: 0s}'),
      })
      await world.sync('apps/web')
      await world.settled(namespace, 'web', 3)
      const user = `system:serviceaccount:${own}:backporch-${namespace}`
      const groups = ['system:serviceaccounts', `system:serviceaccounts:${own}`]
      const kubeconfig = await plane.kubeconfigFor(user, groups)
      return { world, namespace, account: `${own}/backporch-${namespace}`, user, kubeconfig }
    }

    async function grant(
      { world, account }: Shop,
      ...flags: string[]
    ): Promise<readonly Manifest[]> {
      const { stdout } = assertExit(
        await world.backporch('rbac', '--account', account, ...flags),
        0,
      )
      await world.pipe(stdout, 'apply', '--filename=-')
      return parseGoYaml(stdout, 'rbac').documents.flatMap((document) =>
        listDocumentObjects(document, stdout, 'rbac').map(
          ({ object }) => object as unknown as Manifest,
        ),
      )
    }

    /** @returns what `check` prints for the account */
    async function checkAs({ world, kubeconfig }: Shop): Promise<string> {
      const args = ['check', '--repo', world.repository]
      return (await world.backporchIn(world.checkout, { KUBECONFIG: kubeconfig }, ...args)).stdout
    }

    function readAudit({ user }: Shop): readonly AuditEvent[] {
      assert.ok(plane.auditLog !== undefined)
      return readFileSync(plane.auditLog, 'utf8')
        .split('\n')
        .filter((line) => line.includes(`"${user}"`))
        .map((line): AuditEvent => JSON.parse(line))
        .filter((event) => event.user.username === user)
    }

    function listRefused(shop: Shop): readonly string[] {
      return readAudit(shop)
        .filter(({ responseStatus }) => responseStatus?.code === 403)
        .map(({ verb, requestURI }) => `${verb} ${requestURI}`)
    }

    for (const flags of [[], ['--namespaced']])
      test(`diff finds what the administrator finds, and no request is refused ${flags.join(' ')}`, async (t) => {
        const shop = await openShop(t)
        const { world, namespace, kubeconfig } = shop
        await grant(shop, ...flags)
        await world.kubectl('scale', 'deployment/web', '--replicas=5', '-n', namespace)
        await world.kubectl('delete', 'configmap/web', '-n', namespace)
        const admin = assertExit(await world.backporch('diff'), 1)
        const { checkout, repository } = world
        const args = ['diff', '--repo', repository]
        const own = await world.backporchIn(checkout, { KUBECONFIG: kubeconfig }, ...args)
        assert.equal(assertExit(own, 1).stdout, admin.stdout)
        assert.match(own.stdout, /spec\.replicas +3 → 5/)
        assert.deepEqual(listRefused(shop), [])
        assert.doesNotMatch(await checkAs(shop), TOO_MUCH)
      })

    test('the controller watches with these rights, uses each of them, and no request is refused', async (t) => {
      const shop = await openShop(t)
      const { world, namespace, kubeconfig } = shop
      const manifests = await grant(shop, '--kubernetes-events')
      const controller = new Controller(t, world, ['--interval', '1h', '--kubernetes-events'], {
        KUBECONFIG: kubeconfig,
      })
      await controller.until('a first turn', () => controller.did('status').length > 0)
      const turns = (): number => logEvents(controller.stderr, 'turn').length
      const before = turns()
      await world.kubectl('annotate', 'secret/login', 'example.com/by=hand', '-n', namespace)
      await world.kubectl(
        'patch',
        'secret/login',
        '-n',
        namespace,
        '-p',
        '{"data":{"password":"bWF0ZQ=="}}',
      )
      await controller.until('a turn about the Secret', () => turns() > before)
      await world.kubectl('scale', 'deployment/web', '--replicas=5', '-n', namespace)
      await world.kubectl('delete', 'configmap/web', '-n', namespace)
      const countEvents = async (): Promise<number> =>
        (await world.kubectl('get', 'events', '-n', namespace)).split('DriftDetected').length - 1
      await controller.until('an Event about each object', async () => (await countEvents()) > 1)
      controller.send('SIGTERM')
      assert.equal((await controller.exited).code, 0)
      assert.deepEqual(listRefused(shop), [])
      const used = new Set(
        readAudit(shop).flatMap(({ objectRef }) =>
          objectRef === undefined ? [] : [`${objectRef.apiGroup ?? ''}/${objectRef.resource}`],
        ),
      )
      const granted = manifests
        .flatMap(({ rules = [] }) => rules)
        .flatMap(({ apiGroups, resources }) =>
          resources.map((resource) => `${apiGroups.join()}/${resource}`),
        )
      assert.deepEqual(
        granted.filter((each) => !used.has(each)),
        [],
        'rights that nothing uses',
      )
    })

    test('with the level settle it writes what a merged commit authorises, and nothing else', async (t) => {
      const shop = await openShop(t)
      const { world, namespace, kubeconfig } = shop
      await world.commit(
        policy('mode: Propose\nsettle: backporch\ndetect: {minAge: 0s, settle: 0s}'),
        'chore(policy): settle',
      )
      await grant(shop, '--level', 'settle')
      await world.kubectl('scale', 'deployment/web', '--replicas=5', '-n', namespace)
      const run = (...args: readonly string[]) =>
        world.backporchIn(
          world.checkout,
          { KUBECONFIG: kubeconfig },
          ...args,
          '--repo',
          world.repository,
        )
      assertExit(await run('scan'), 1)
      const approved = assertExit(await run('approve', 'apps/web', '--yes', '--wait'), 0)
      assert.match(approved.stdout, /sent 1 write to test for 1 approved change/)
      const replicas = await world.kubectl(
        'get',
        'deployment/web',
        '-n',
        namespace,
        '-o',
        'jsonpath={.spec.replicas}',
      )
      assert.equal(replicas, '3')
      assert.deepEqual(listRefused(shop), [])
      const writes = readAudit(shop).filter(
        ({ verb, requestURI }) =>
          ['create', 'update', 'patch', 'delete'].includes(verb) &&
          !requestURI.includes('dryRun=All'),
      )
      // The apply, and the hand-over of the field to the syncer.
      assert.deepEqual(
        [...new Set(writes.map(({ verb, objectRef }) => `${verb} ${objectRef?.resource}`))],
        ['patch deployments'],
      )
    })

    test('no rule names all resources, a subresource, or Secrets beside those of the packages', async (t) => {
      const shop = await openShop(t)
      for (const level of ['observe', 'dryrun', 'settle']) {
        const manifests = await grant(shop, '--level', level)
        const rules = manifests.flatMap(({ rules: own = [] }) => own)
        for (const { apiGroups, resources, verbs } of rules) {
          const texts = [...apiGroups, ...resources, ...verbs]
          assert.deepEqual(
            texts.filter((text) => text.includes('*') || text.includes('/')),
            [],
          )
        }
        const secrets = rules.filter(({ resources }) => resources.includes('secrets'))
        const unnamed = secrets.filter(({ resourceNames }) => resourceNames === undefined)
        assert.deepEqual(
          unnamed.flatMap(({ verbs }) => verbs),
          level === 'observe' ? [] : ['create'],
          'a create has no name that a rule could compare',
        )
        assert.deepEqual(
          [...new Set(secrets.flatMap(({ resourceNames = [] }) => resourceNames))],
          ['login'],
        )
      }
    })

    test('what is incomplete has exit code 3: a package that cannot be read, a kind that is not served', async (t) => {
      const shop = await openShop(t)
      const { world, namespace, account } = shop
      const kptfile = 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: more}\n'
      await world.commit(
        {
          'apps/broken/Kptfile': kptfile,
          'apps/broken/broken.yaml': 'kind: [\n',
          'apps/more/Kptfile': kptfile,
          'apps/more/widget.yaml': `apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: one, namespace: ${namespace}}\n`,
        },
        'feat: more packages',
      )
      const run = assertExit(await world.backporch('rbac', '--account', account), 3)
      assert.match(run.stderr, /^error BP1110: .*\n {2}where: apps\/broken\/broken\.yaml/m)
      assert.match(run.stderr, /Widget .*the API server does not serve this kind/)
      assert.match(run.stdout, /^ {2}- deployments$/m)
      const broken = assertExit(await world.backporch('rbac', 'apps/broken'), 2)
      assert.equal(broken.stdout, '')
      const args = ['rbac', '--account', 'backporch', '--repo', world.repository]
      const wrong = assertExit(await world.backporchIn(world.checkout, {}, ...args), 2)
      assert.match(wrong.stderr, /BP1001: --account backporch is not a ServiceAccount/)
    })

    test('a token, an exec, another Secret and a real write are refused; a real write also with more rights', async (t) => {
      const shop = await openShop(t)
      const { namespace, account, user } = shop
      await grant(shop)
      const [own = '', name = ''] = account.split('/')
      await plane.request('POST', `/api/v1/namespaces/${own}/serviceaccounts`, {
        body: { metadata: { name } },
      })
      await plane.request('POST', `/api/v1/namespaces/${namespace}/secrets`, {
        body: { metadata: { name: 'other' } },
      })
      const groups = ['system:serviceaccounts', `system:serviceaccounts:${own}`]
      const as = { user, groups }
      const attack = async (method: string, path: string, body?: unknown): Promise<number> =>
        (await plane.request(method, path, { as, ...(body === undefined ? {} : { body }) })).status
      const token = `/api/v1/namespaces/${own}/serviceaccounts/${name}/token`
      const map = { metadata: { generateName: 'more-' } }
      const maps = `/api/v1/namespaces/${namespace}/configmaps`
      const attacks = async (): Promise<readonly number[]> => [
        await attack('POST', `${token}?dryRun=All`, { spec: {} }),
        await attack('POST', maps, map),
        await attack('POST', `/api/v1/namespaces/${namespace}/pods/web/exec?command=id`),
        await attack('DELETE', `${maps}/web`),
      ]
      // The server reads a new policy within seconds.
      await waitUntil('the admission policy holds', async () => (await attacks())[1] === 403)
      assert.deepEqual(await attacks(), [403, 403, 403, 403])
      assert.equal(await attack('GET', `/api/v1/namespaces/${namespace}/secrets/other`), 403)
      assert.equal(await attack('GET', `/api/v1/namespaces/${namespace}/pods/web/exec`), 403)
      assert.equal(await attack('POST', `${maps}?dryRun=All`, map), 201)
      // The rule of the guide of earlier versions: the admission policy alone refuses these.
      await plane.request('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
        body: {
          metadata: { name: `all-${namespace}` },
          roleRef: {
            apiGroup: 'rbac.authorization.k8s.io',
            kind: 'ClusterRole',
            name: 'cluster-admin',
          },
          subjects: [{ kind: 'ServiceAccount', name, namespace: own }],
        },
      })
      assert.match(await checkAs(shop), TOO_MUCH)
      assert.deepEqual((await attacks()).slice(0, 2), [403, 403])
      assert.equal(await attack('DELETE', `${maps}/web`), 403)
      assert.equal(await attack('POST', `${maps}?dryRun=All`, map), 201)
    })
  },
)
