/**
 * A repository as Argo CD's documentation lays it out, on a real Gitea, synced to a real API server with Argo CD's own generation of manifests
 * and gitops-engine's apply: seen untouched, after hand edits, and after a review that adopted some of them and restored the others.
 */
import assert from 'node:assert/strict'
import { dirname } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type Appliers, findAppliers } from '../appliers/appliers.ts'
import { argoRepository, bootstrapOf, DEFINITION, ROOT } from '../argo/argo-repository.ts'
import { ArgoSyncer, type OutOfSync } from '../argo/argo-syncer.ts'
import { type ArgoPrograms, findArgo } from '../argo/programs.ts'
import type { ControlPlane } from '../controlplane/control-plane.ts'
import { startControlPlane } from '../controlplane/start-control-plane.ts'
import { setVariable } from '../fakes/set-variable.ts'
import type { Gitea } from '../gitea/gitea.ts'
import { createGiteaFixture } from '../gitea/gitea-fixture.ts'
import { sharedGitea } from '../gitea/shared-gitea.ts'
import { helmOrThrow } from '../helm/find-helm.ts'
import { policy } from './packages.ts'
import { PROPOSE, ReviewWorld } from './review-world.ts'
import { assertExit, openWorld, type World } from './world.ts'

/** What the operator allows. */
const PROGRAMS = ['--allow-render', 'kubectl', '--allow-render', 'helm']
/** By folder of the repository, and the Application that applies it. */
const UNITS = [
  'applications',
  'charts/api',
  'charts/worker',
  'environments/production/manifests',
  'platform',
  'shop/production',
]

const DEPLOYMENT = 'shop/base/deployment.yaml:2'
/** What a person types, and the lines of it: the place of the object in git, then the field. */
const EDITS: readonly { readonly args: string; readonly lines: readonly string[] }[] = [
  { args: 'scale deployment/web -n shop --replicas=5', lines: [`${DEPLOYMENT} ~ spec.replicas`] },
  {
    args: 'set image deployment/web app=example.com/shop/web:1.5.0 -n shop',
    lines: [`${DEPLOYMENT} ~ spec.template.spec.containers[name=app].image`],
  },
  {
    args: 'set env deployment/web LOG_LEVEL=debug -n shop',
    lines: [`${DEPLOYMENT} ~ spec.template.spec.containers[name=app].env[name=LOG_LEVEL].value`],
  },
  {
    args: 'set resources deployment/web --limits=memory=256Mi -n shop',
    lines: [`${DEPLOYMENT} ~ spec.template.spec.containers[name=app].resources.limits.memory`],
  },
  {
    args: 'patch configmap/web -n shop -p {"data":{"theme":"dark"}}',
    lines: ['shop/base/config.yaml:1 ~ data.theme'],
  },
  {
    args: 'annotate service/web -n shop team=payments --overwrite',
    lines: ['shop/base/service.yaml:1 ~ metadata.annotations.team'],
  },
  {
    args: 'scale deployment/api -n api --replicas=4',
    lines: ['charts/api/templates/deployment.yaml:1 ~ spec.replicas'],
  },
  {
    args: 'set image deployment/api api=example.com/shop/api:2.1.0 -n api',
    lines: [
      'charts/api/templates/deployment.yaml:1 ~ spec.template.spec.containers[name=api].image',
    ],
  },
  {
    args: 'set env deployment/api LOG_LEVEL=debug -n api',
    lines: [
      'charts/api/templates/deployment.yaml:1 ~ spec.template.spec.containers[name=api].env[name=LOG_LEVEL].value',
    ],
  },
  {
    args: 'set resources deployment/api --limits=memory=512Mi -n api',
    lines: [
      'charts/api/templates/deployment.yaml:1 ~ spec.template.spec.containers[name=api].resources.limits.memory',
    ],
  },
  {
    args: 'patch poddisruptionbudget/api -n api -p {"spec":{"minAvailable":2}}',
    lines: ['charts/api/templates/budget.yaml:2 ~ spec.minAvailable'],
  },
  {
    args: 'patch cronjob/nightly-worker -n jobs -p {"spec":{"schedule":"@daily"}}',
    lines: ['charts/worker/templates/cronjob.yaml:1 ~ spec.schedule'],
  },
  {
    args: 'patch cronjob/nightly-worker -n jobs -p {"spec":{"suspend":true}}',
    lines: ['charts/worker/templates/cronjob.yaml:1 ~ spec.suspend'],
  },
  {
    args: 'patch configmap/mail -n jobs -p {"data":{"to":"night@example.com"}}',
    lines: ['environments/production/manifests/mail.yaml:1 ~ data.to'],
  },
  {
    args: 'patch clusterrole/reader --type=json -p [{"op":"add","path":"/rules/0/verbs/-","value":"update"}]',
    lines: ['platform/rbac/reader.yaml:7 ~ rules'],
  },
  {
    args: 'patch serviceaccount/reader -n default -p {"automountServiceAccountToken":true}',
    lines: ['platform/rbac/reader.yaml:1 ~ automountServiceAccountToken'],
  },
  {
    args: 'delete networkpolicy/shop -n shop',
    lines: ['platform/network/policy.yaml:2 - missing'],
  },
  {
    args: 'patch resourcequota/jobs -n jobs -p {"spec":{"hard":{"pods":"40"}}}',
    lines: ['platform/limits/quota.yaml:1 ~ spec.hard.pods'],
  },
  {
    args: 'patch application/platform -n argocd --type=merge -p {"spec":{"syncPolicy":{"automated":{"prune":false}}}}',
    lines: ['applications/platform.yaml:1 ~ spec.syncPolicy.automated.prune'],
  },
]

/** What gitops-engine's own comparison says of them. */
const OUT_OF_SYNC: OutOfSync = {
  apps: ['Application argocd/platform'],
  platform: [
    'ClusterRole reader',
    'NetworkPolicy shop/shop',
    'ResourceQuota jobs/jobs',
    'ServiceAccount default/reader',
  ],
  shop: ['ConfigMap shop/web', 'Deployment shop/web', 'Service shop/web'],
  'shop-api': ['Deployment api/api', 'PodDisruptionBudget api/api'],
  'shop-worker': ['ConfigMap jobs/mail', 'CronJob jobs/nightly-worker'],
}

/** Numbers of lines by unit; of the others everything is restored. */
const ADOPTS = {
  'charts/api': '2-5',
  'charts/worker': '1',
  platform: '1,4',
  'shop/production': '1,3-6',
}

/** What the review adopts: each line of git that changes. */
const ADOPTED: readonly string[] = [
  'applications/shop-api.yaml',
  '-        logLevel: info # debug is expensive',
  '+        logLevel: debug # debug is expensive',
  '-          memory: 128Mi',
  '+          memory: 512Mi',
  '-        value: 2.0.1 # as released on Tuesday',
  '+        value: 2.1.0 # as released on Tuesday',
  'applications/shop.yaml',
  '-      - example.com/shop/web:1.4.2 # as released on Monday',
  '+      - example.com/shop/web:1.5.0 # as released on Monday',
  '-        count: 3 # two zones and a spare',
  '+        count: 5 # two zones and a spare',
  '-                    value: info',
  '+                    value: debug',
  'charts/api/values-production.yaml',
  '-replicas: 2 # one for each zone',
  '+replicas: 4 # one for each zone',
  'environments/production/worker.yaml',
  '-schedule: "30 2 * * *" # after the backup',
  '+schedule: "@daily" # after the backup',
  'platform/limits/quota.yaml',
  '-    pods: "20" # more do not fit',
  '+    pods: "40" # more do not fit',
  'platform/rbac/reader.yaml',
  '-  verbs: [get, list, watch]',
  '+  verbs: [get, list, watch, update]',
  'shop/base/config.yaml',
  "-  theme: 'light' # as the designers want it",
  "+  theme: 'dark' # as the designers want it",
  'shop/production/web-memory.yaml',
  '-            memory: 128Mi # twice what it needs',
  '+            memory: 256Mi # twice what it needs',
]

const gitea = await sharedGitea()
const found = await findArgo()
const appliers = await findAppliers()
// Of its own: every Application of the cluster is one of this repository.
const plane = await startControlPlane({ controllerManager: true })
if (gitea.state === 'unavailable') test('Argo CD', { skip: gitea.why }, () => {})
else if (found.state === 'unavailable') test('Argo CD', { skip: found.why }, () => {})
else if (appliers.state === 'unavailable') test('Argo CD', { skip: appliers.why }, () => {})
else if (plane.state === 'unavailable') test('Argo CD', { skip: plane.why }, () => {})
else
  test('a repository that Argo CD syncs', async (t) => {
    t.after(() => plane.stop())
    const { review, argo } = await openArgoWorld(t, {
      plane,
      gitea: gitea as never,
      found,
      appliers,
    })
    const { world } = review

    await t.test('reports nothing for untouched objects', async () => {
      assert.deepEqual(await argo.refresh(), {}, 'Argo CD itself finds everything in sync')
      const run = assertExit(await review.backporch('diff', ...PROGRAMS), 0)
      // A slow turn says how far it is.
      assert.equal(`${run.stdout}${run.stderr.replaceAll(/^observing .*\n/gm, '')}`, '')
    })

    await t.test('reports each hand edit with its place in git, and proposes it', async () => {
      for (const { args } of EDITS) await world.kubectl(...args.split(' '))
      assert.deepEqual(await argo.refresh(), OUT_OF_SYNC)
      const scanned = assertExit(await review.backporch('scan', ...PROGRAMS), 1)
      const lines = EDITS.flatMap((edit) => edit.lines)
      assert.deepEqual(linesOf(scanned.stdout), lines.toSorted())
      const explained = assertExit(
        await review.backporch('explain', 'shop/production', ...PROGRAMS),
        0,
      )
      assert.match(
        explained.stdout,
        /written by replicas of applications\/shop\.yaml:22:16, which decides/,
      )
      assert.match(
        explained.stdout,
        /written by the patch applications\/shop\.yaml:39:28, which decides/,
      )
      assert.match(
        explained.stdout,
        /written by commonAnnotations of applications\/shop\.yaml:17:15/,
      )
      assert.match(
        explained.stdout,
        /written by the patch shop\/production\/web-memory\.yaml:12:21/,
      )
    })

    await t.test('Adopt edits the source files, and Argo CD applies the merge', async () => {
      for (const [unit, numbers] of Object.entries(ADOPTS))
        assertExit(await review.backporch('adopt', unit, numbers, ...PROGRAMS), 0)
      const before = await world.remote('rev-parse', 'main')
      const pulls = await review.pulls()
      assert.deepEqual(
        pulls.map(({ head }) => head.label.replace(/^proposed\/(.*)\/drift-.*/, '$1')).sort(),
        UNITS,
      )
      for (const { number } of pulls) await review.mergeByHand(number, 'squash')
      assert.deepEqual(
        changedLines(await world.remote('diff', '--unified=0', before, 'main', '--', ':!.drift')),
        ADOPTED,
      )

      await argo.syncFrom(ROOT)
      assert.deepEqual(await argo.refresh(), {})
      assert.deepEqual(await liveValues(world), {
        replicas: '5',
        image: 'example.com/shop/web:1.5.0',
        logLevel: 'debug',
        memory: '256Mi',
        theme: 'dark',
        team: 'shop',
        apiReplicas: '4',
        apiImage: 'example.com/shop/api:2.1.0',
        apiLogLevel: 'debug',
        apiMemory: '512Mi',
        minAvailable: '1',
        schedule: '@daily',
        suspend: 'false',
        mail: 'ops@example.com',
        verbs: '["get","list","watch","update"]',
        automount: 'false',
        policy: 'shop',
        pods: '40',
        prune: 'true',
      })
    })

    await t.test('everything is in sync afterwards, and no proposal is open', async () => {
      const scan = assertExit(await review.backporch('scan', ...PROGRAMS), 0)
      assert.deepEqual(linesOf(scan.stdout), [])
      const diff = assertExit(await review.backporch('diff', ...PROGRAMS), 0)
      assert.equal(diff.stdout, '')
      // No Pod runs here, and a Deployment fails after 600 s: on a slow machine the health says so.
      const status = assertExit(await review.backporch('status', '--no-exit-code'), 0)
      for (const unit of UNITS)
        assert.match(status.stdout, new RegExp(`^test +${unit} .*✓ InSync`, 'm'))
      assert.deepEqual(await world.proposals(), [])
      const merged = (await world.remote('log', '--format=%H', `-${UNITS.length}`, 'main')).split(
        '\n',
      )
      for (const commit of merged)
        assert.equal((await review.statuses(commit)).get('drift/restored'), 'success')
    })
  })

/** `<file>:<line> <sign> <field>` of each difference, sorted. */
function linesOf(printed: string): string[] {
  let place = ''
  const lines: string[] = []
  for (const line of printed.split('\n')) {
    place = /^\S+ \S+ \S+ {3}(\S+:\d+)$/.exec(line)?.[1] ?? place
    const [, sign, path] = /^ +\d+ ([~+-]) {2}(\S+)/.exec(line) ?? []
    if (sign !== undefined) lines.push(`${place} ${sign} ${path}`)
  }
  return lines.sort()
}

/** Of a diff without context: each path, then its lines. */
function changedLines(diff: string): string[] {
  return diff
    .split('\n')
    .flatMap(
      (line) => /^\+\+\+ b\/(.*)/.exec(line)?.[1] ?? (/^[-+](?!-- |\+\+ )/.test(line) ? line : []),
    )
}

async function liveValues(world: World): Promise<Readonly<Record<string, string>>> {
  const get = (what: string, path: string): Promise<string> =>
    world.kubectl('get', ...what.split(' '), '-o', `jsonpath={${path}}`)
  const container = '.spec.template.spec.containers[0]'
  return {
    replicas: await get('deployment/web -n shop', '.spec.replicas'),
    image: await get('deployment/web -n shop', `${container}.image`),
    logLevel: await get('deployment/web -n shop', `${container}.env[0].value`),
    memory: await get('deployment/web -n shop', `${container}.resources.limits.memory`),
    theme: await get('configmap/web -n shop', '.data.theme'),
    team: await get('service/web -n shop', '.metadata.annotations.team'),
    apiReplicas: await get('deployment/api -n api', '.spec.replicas'),
    apiImage: await get('deployment/api -n api', `${container}.image`),
    apiLogLevel: await get('deployment/api -n api', `${container}.env[0].value`),
    apiMemory: await get('deployment/api -n api', `${container}.resources.limits.memory`),
    minAvailable: await get('poddisruptionbudget/api -n api', '.spec.minAvailable'),
    schedule: await get('cronjob/nightly-worker -n jobs', '.spec.schedule'),
    suspend: await get('cronjob/nightly-worker -n jobs', '.spec.suspend'),
    mail: await get('configmap/mail -n jobs', '.data.to'),
    verbs: await get('clusterrole/reader', '.rules[0].verbs'),
    automount: await get('serviceaccount/reader -n default', '.automountServiceAccountToken'),
    policy: await get('networkpolicy/shop -n shop', '.metadata.name'),
    pods: await get('resourcequota/jobs -n jobs', '.spec.hard.pods'),
    prune: await get('application/platform -n argocd', '.spec.syncPolicy.automated.prune'),
  }
}

interface Parts {
  readonly plane: ControlPlane
  readonly gitea: Gitea
  readonly found: ArgoPrograms
  readonly appliers: Appliers
}

/** The repository is on Gitea, and Argo CD has synced all of it. */
async function openArgoWorld(
  t: TestContext,
  { plane, gitea, found, appliers }: Parts,
): Promise<{ review: ReviewWorld; argo: ArgoSyncer }> {
  // Of another version than the one that Argo CD runs.
  t.after(setVariable('PATH', `${dirname((await helmOrThrow()).helm3)}:${process.env['PATH']}`))
  const fixture = await createGiteaFixture(gitea)
  t.after(() => fixture.close())
  const files = {
    ...argoRepository(`${fixture.gitea.url}/${fixture.owner.name}/${fixture.name}.git`),
    ...policy(PROPOSE),
  }
  const review = new ReviewWorld(fixture, await openWorld(t, plane, files))
  const { world } = review
  await review.git('push', '--quiet', '--force', review.address, 'main')
  await world.pipe(DEFINITION, 'apply', '--filename=-')
  await world.kubectl('wait', '--for=condition=Established', '--all', 'crd', '--timeout=4m')
  await world.kubectl('create', 'namespace', 'argocd')
  await world.pipe(bootstrapOf(files), 'apply', '--filename=-')
  const argo = new ArgoSyncer({ plane, found, appliers, read: () => newest(review) })
  t.after(() => argo.close())
  assert.deepEqual(await argo.syncFrom(ROOT), [ROOT, 'platform', 'shop', 'shop-api', 'shop-worker'])
  return { review, argo }
}

/** As Gitea has it. */
async function newest(
  review: ReviewWorld,
): Promise<{ commit: string; files: Readonly<Record<string, string>> }> {
  await review.observe()
  const { world } = review
  const commit = await world.remote('rev-parse', 'main')
  const paths = (await world.remote('ls-tree', '-r', '--name-only', commit)).split('\n')
  const texts = await Promise.all(
    paths.map(async (path) => [path, await world.show(commit, path)] as const),
  )
  return { commit, files: Object.fromEntries(texts) }
}
