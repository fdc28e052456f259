/**
 * A repository as Flux's documentation lays it out, on a real Gitea, synced to a real API server by Flux's own controllers: seen untouched,
 * after hand edits, and after a review that adopted some of them and restored the others. Nobody applies anything but Flux.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { ControlPlane } from '../controlplane/control-plane.ts'
import { startControlPlane } from '../controlplane/start-control-plane.ts'
import { findFlux } from '../flux/find-flux.ts'
import { type FluxControllers, startFlux } from '../flux/flux-controllers.ts'
import { bootstrapOf, fluxRepository, KUSTOMIZATIONS, TOKEN } from '../flux/flux-repository.ts'
import type { Gitea } from '../gitea/gitea.ts'
import { createGiteaFixture } from '../gitea/gitea-fixture.ts'
import { sharedGitea } from '../gitea/shared-gitea.ts'
import { helmOrThrow } from '../helm/find-helm.ts'
import { policy } from './packages.ts'
import { PROPOSE, ReviewWorld } from './review-world.ts'
import { assertExit, openWorld, type World } from './world.ts'

/** What the operator allows: `kubectl kustomize` builds the folders. */
const KUBECTL = ['--allow-render', 'kubectl']
/** By folder of the repository. */
const UNITS = [
  'apps/production',
  'apps/production/front',
  'clusters/production',
  'infrastructure/configs',
  'infrastructure/controllers',
]

const PORT_BY_HAND =
  'patch service/web -n shop --type=json -p [{"op":"replace","path":"/spec/ports/0/port","value":8080}]'
/** What a person types, and the line of it: the place of the object in git, then the field. */
const EDITS: readonly { readonly args: string; readonly lines: readonly string[] }[] = [
  {
    args: 'scale deployment/web -n shop --replicas=5',
    lines: ['apps/base/web/deployment.yaml:2 ~ spec.replicas'],
  },
  {
    args: 'set image deployment/web app=example.com/shop/web:1.5.0 -n shop',
    lines: ['apps/base/web/deployment.yaml:2 ~ spec.template.spec.containers[name=app].image'],
  },
  {
    args: 'set env deployment/web LOG_LEVEL=debug -n shop',
    lines: [
      'apps/base/web/deployment.yaml:2 ~ spec.template.spec.containers[name=app].env[name=LOG_LEVEL].value',
    ],
  },
  {
    args: 'set resources deployment/web --limits=memory=256Mi -n shop',
    lines: [
      'apps/base/web/deployment.yaml:2 ~ spec.template.spec.containers[name=app].resources.limits.memory',
    ],
  },
  {
    args: 'patch configmap/web -n shop -p {"data":{"theme":"dark"}}',
    lines: ['apps/base/web/config.yaml:1 ~ data.theme'],
  },
  {
    args: 'patch secret/web -n shop -p {"stringData":{"token":"tok-by-hand"}}',
    lines: ['apps/base/web/secret.yaml:1 ~ data.token'],
  },
  {
    args: PORT_BY_HAND,
    lines: [
      'apps/base/web/service.yaml:1 + spec.ports[port=8080,protocol=TCP]',
      'apps/base/web/service.yaml:1 - spec.ports[port=80,protocol=TCP]',
    ],
  },
  {
    args: 'label service/web -n shop team=payments --overwrite',
    lines: ['apps/base/web/service.yaml:1 ~ metadata.labels.team'],
  },
  {
    args: 'scale deployment/front -n shop --replicas=4',
    lines: ['apps/base/front/release.yaml:2 ~ spec.replicas'],
  },
  {
    args: 'set image deployment/front proxy=mirror.example.com/front:2.1 -n shop',
    lines: ['apps/base/front/release.yaml:2 ~ spec.template.spec.containers[name=proxy].image'],
  },
  {
    args: 'patch deployment/front -n shop -p {"spec":{"template":{"spec":{"terminationGracePeriodSeconds":90}}}}',
    lines: ['apps/base/front/release.yaml:2 ~ spec.template.spec.terminationGracePeriodSeconds'],
  },
  {
    args: 'delete networkpolicy/edge-ingress -n ingress',
    lines: ['infrastructure/configs/network-policy.yaml:2 - missing'],
  },
  {
    args: 'patch clusterrole/ingress --type=json -p [{"op":"add","path":"/rules/0/verbs/-","value":"update"}]',
    lines: ['infrastructure/controllers/rbac.yaml:8 ~ rules'],
  },
  {
    args: 'patch serviceaccount/ingress -n ingress -p {"automountServiceAccountToken":true}',
    lines: ['infrastructure/controllers/rbac.yaml:1 ~ automountServiceAccountToken'],
  },
  {
    args: 'patch deployment/ingress -n ingress -p {"spec":{"minReadySeconds":10}}',
    lines: ['infrastructure/controllers/ingress.yaml:1 + spec.minReadySeconds'],
  },
]

/** What the review adopts: each line of git that changes. */
const ADOPTED = [
  'apps/base/front/release.yaml',
  '-                terminationGracePeriodSeconds: 60 # long requests',
  '+                terminationGracePeriodSeconds: 90 # long requests',
  '-      tag: "2.0" # as tested',
  '+      tag: "2.1" # as tested',
  'apps/production/configmap-web-patch.yaml',
  '+apiVersion: v1',
  '+kind: ConfigMap',
  '+metadata:',
  '+  name: web',
  '+data:',
  '+  theme: dark',
  'apps/production/front-values.yaml',
  '-    replicas: 2 # one in each zone',
  '+    replicas: 4 # one in each zone',
  'apps/production/kustomization.yaml',
  '+- path: configmap-web-patch.yaml',
  '+- path: service-web-patch.yaml',
  '+  target:',
  '+    kind: Service',
  '+    name: web',
  'apps/production/service-web-patch.yaml',
  '+- op: replace',
  '+  path: /spec/ports/0/port',
  '+  value: 8080',
  'apps/production/web-replicas.yaml',
  '-  replicas: 3 # two zones and a spare',
  '+  replicas: 5 # two zones and a spare',
  'clusters/production/apps.yaml',
  '-    newTag: 1.4.2 # as released on Monday',
  '+    newTag: 1.5.0 # as released on Monday',
  '-                  memory: 128Mi',
  '+                  memory: 256Mi',
  '-      log_level: info # debug is expensive',
  '+      log_level: debug # debug is expensive',
  // The folder of the controllers is applied in staging too.
  'clusters/production/infrastructure.yaml',
  '+  patches:',
  '+  - patch: |',
  '+      apiVersion: rbac.authorization.k8s.io/v1',
  '+      kind: ClusterRole',
  '+      metadata:',
  '+        name: ingress',
  '+      rules:',
  '+      - apiGroups:',
  '+        - networking.k8s.io',
  '+        resources:',
  '+        - ingresses',
  '+        verbs:',
  '+        - get',
  '+        - list',
  '+        - watch',
  '+        - update',
]

const gitea = await sharedGitea()
const found = await findFlux(['source-controller', 'kustomize-controller', 'helm-controller'])
// Of its own: the controllers would reconcile the resources of other tests, which define the kinds in their own way.
const plane = await startControlPlane({ controllerManager: true })
if (gitea.state === 'unavailable') test('Flux', { skip: gitea.why }, () => {})
else if (found.state === 'unavailable') test('Flux', { skip: found.why }, () => {})
else if (plane.state === 'unavailable') test('Flux', { skip: plane.why }, () => {})
else
  test('a repository that Flux syncs', async (t) => {
    t.after(() => plane.stop())
    const { review, flux } = await openFluxWorld(t, plane, gitea as never)
    const { world } = review

    await t.test('reports nothing for untouched objects', async () => {
      const run = assertExit(await review.backporch('diff', ...KUBECTL), 0)
      // A slow turn says how far it is.
      assert.equal(`${run.stdout}${run.stderr.replaceAll(/^observing .*\n/gm, '')}`, '')
    })

    await t.test('reports each hand edit with its place in git, and proposes it', async () => {
      for (const { args } of EDITS) await world.kubectl(...args.split(' '))
      const scanned = assertExit(await review.backporch('scan', ...KUBECTL), 1)
      const lines = EDITS.flatMap((edit) => edit.lines)
      assert.deepEqual(linesOf(scanned.stdout), lines.toSorted())
      assert.doesNotMatch(scanned.stdout, new RegExp(`${TOKEN}|tok-by-hand`))
      const explained = assertExit(
        await review.backporch('explain', 'apps/production', ...KUBECTL),
        0,
      )
      assert.match(
        explained.stdout,
        /written by the patch apps\/production\/web-replicas\.yaml:6:13, which decides/,
      )
      assert.match(
        explained.stdout,
        /written by images of clusters\/production\/apps\.yaml:22:13 \(newTag\)/,
      )
      assert.match(explained.stdout, /written by the patch clusters\/production\/apps\.yaml:36:27/)
    })

    await t.test(
      'Adopt edits the source files, or the overlay if staging shares the base, and Flux applies the merge',
      async () => {
        const adopted = assertExit(
          await review.backporch('adopt', 'apps/production', '1,4-9', ...KUBECTL),
          0,
        )
        assert.match(
          `${adopted.stdout}${adopted.stderr}`,
          /data\.theme comes from the manifest \(apps\/base\/web\/config\.yaml:7\), which apps\/staging \(Flux Kustomization flux-system\/apps of clusters\/staging\/apps\.yaml\) is built from too/,
        )
        assertExit(
          await review.backporch('adopt', 'infrastructure/controllers', '2', ...KUBECTL),
          0,
        )
        const { helm3 } = await helmOrThrow()
        assertExit(
          await review.backporch(
            'adopt',
            'apps/production/front',
            ...KUBECTL,
            '--allow-render',
            helm3,
          ),
          0,
        )
        const before = await world.remote('rev-parse', 'main')
        const pulls = await review.pulls()
        assert.deepEqual(pulls.map(unitOf).sort(), [
          'apps/production',
          'apps/production/front',
          'infrastructure/configs',
          'infrastructure/controllers',
        ])
        for (const { number } of pulls) await review.mergeByHand(number, 'squash')
        assert.deepEqual(
          changedLines(await world.remote('diff', '--unified=0', before, 'main', '--', ':!.drift')),
          ADOPTED,
        )

        await flux.reconcile('GitRepository', 'flux-system')
        await flux.untilApplied(await world.remote('rev-parse', 'main'), KUSTOMIZATIONS)
        await flux.untilReleased('front')
        assert.deepEqual(await liveValues(world), {
          front: '4 mirror.example.com/front:2.1 90',
          replicas: '5',
          image: 'example.com/shop/web:1.5.0',
          logLevel: 'debug',
          memory: '256Mi',
          theme: 'dark',
          token: TOKEN,
          port: '8080',
          team: 'shop',
          policy: 'edge-ingress',
          verbs: '["get","list","watch","update"]',
          automount: 'false',
          minReadySeconds: '',
        })
      },
    )

    await t.test('everything is in sync afterwards, and no proposal is open', async () => {
      const run = assertExit(await review.backporch('scan', ...KUBECTL), 0)
      assert.deepEqual(linesOf(run.stdout), [])
      // No Pod runs here, and a Deployment fails after 600 s: on a slow machine the health says so.
      const status = assertExit(await review.backporch('status', '--no-exit-code'), 0)
      for (const unit of UNITS)
        assert.match(status.stdout, new RegExp(`^test +${unit} .*✓ InSync`, 'm'))
      assert.deepEqual(await world.proposals(), [])
    })

    await t.test(
      'a HelmRelease edited in the cluster is rolled out, and adopted in the file with its values',
      async () => {
        await world.kubectl(
          ...['patch', 'helmrelease/front', '-n', 'flux-system', '--type=merge', '-p'],
          '{"spec":{"values":{"replicas":6,"image":{"tag":"2.2"}}}}',
        )
        await flux.untilReleased('front')
        const rolledOut = '6 mirror.example.com/front:2.2 90'
        assert.equal((await liveValues(world)).front, rolledOut)
        const scanned = assertExit(await review.backporch('scan', ...KUBECTL), 1)
        assert.deepEqual(linesOf(scanned.stdout), [
          'apps/base/front/release.yaml:2 ~ spec.values.image.tag',
          'apps/base/front/release.yaml:2 ~ spec.values.replicas',
        ])
        const { helm3 } = await helmOrThrow()
        const allowed = [...KUBECTL, '--allow-render', helm3]
        assertExit(await review.backporch('adopt', 'apps/production', ...allowed), 0)
        const before = await world.remote('rev-parse', 'main')
        const pull = await review.onlyOpen()
        assert.equal(unitOf(pull), 'apps/production')
        await review.mergeByHand(pull.number, 'squash')
        assert.deepEqual(
          changedLines(await world.remote('diff', '--unified=0', before, 'main', '--', ':!.drift')),
          [
            'apps/base/front/release.yaml',
            '-      tag: "2.1" # as tested',
            '+      tag: "2.2" # as tested',
            'apps/production/front-values.yaml',
            '-    replicas: 4 # one in each zone',
            '+    replicas: 6 # one in each zone',
          ],
        )
        await flux.reconcile('GitRepository', 'flux-system')
        await flux.untilApplied(await world.remote('rev-parse', 'main'), KUSTOMIZATIONS)
        await flux.untilReleased('front')
        assert.equal((await liveValues(world)).front, rolledOut)
        assert.deepEqual(
          linesOf(assertExit(await review.backporch('scan', ...KUBECTL), 0).stdout),
          [],
        )
      },
    )

    await t.test(
      'an apply of Flux reverts hand edits and removes what kubectl added, but not what another manager added',
      async () => {
        await world.kubectl('scale', 'deployment/web', '-n', 'shop', '--replicas=7')
        await world.kubectl(
          'annotate',
          'deployment/web',
          '-n',
          'shop',
          'example.com/by-kubectl=yes',
        )
        await world.kubectl(
          'annotate',
          'deployment/web',
          '-n',
          'shop',
          'example.com/by-another=yes',
          '--field-manager=k9s',
        )
        const fate = (await review.backporch('explain', 'apps/production', ...KUBECTL)).stdout
        assert.match(
          fate,
          /by-kubectl"\][\s\S]*?note +the next apply removes it: kustomize-controller takes over what kubectl-annotate\s+wrote/,
        )
        assert.match(
          fate,
          /by-another"\][\s\S]*?note +no apply removes it: it belongs to another manager/,
        )
        await flux.reconcile('Kustomization', 'apps')
        const left = assertExit(await review.backporch('diff', ...KUBECTL), 1)
        assert.deepEqual(linesOf(left.stdout), [
          'apps/base/web/deployment.yaml:2 + metadata.annotations["example.com/by-another"]',
        ])
      },
    )

    await t.test(
      'an object whose apply the server refuses blocks its Kustomization, and is named',
      async () => {
        await world.kubectl('scale', 'deployment/web', '-n', 'shop', '--replicas=7')
        await world.kubectl(...PORT_BY_HAND.replace('8080', '9090').split(' '))
        await flux.reconcile('Kustomization', 'apps')
        assert.equal((await liveValues(world)).replicas, '7')
        const { stdout } = assertExit(await review.backporch('diff', ...KUBECTL), 1)
        assert.match(stdout, /^! a plain re-apply of Service shop\/web fails: Invalid \(422\)/m)
        assert.match(stdout, /^ {2}\d+ ~ {2}spec\.replicas +5 → 7 /m)
        const applier = (await review.backporch('explain', 'apps/production', ...KUBECTL)).stdout
        assert.match(
          applier,
          /Flux Kustomization flux-system\/apps (?:says Ready is False|is not ready now)/,
        )
      },
    )
  })

function unitOf({ head }: { readonly head: { readonly label: string } }): string {
  return head.label.replace(/^proposed\/(.*)\/drift-.*/, '$1')
}

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
    front: await get(
      'deployment/front -n shop',
      `.spec.replicas} {${container}.image} {.spec.template.spec.terminationGracePeriodSeconds`,
    ),
    replicas: await get('deployment/web -n shop', '.spec.replicas'),
    image: await get('deployment/web -n shop', `${container}.image`),
    logLevel: await get('deployment/web -n shop', `${container}.env[0].value`),
    memory: await get('deployment/web -n shop', `${container}.resources.limits.memory`),
    theme: await get('configmap/web -n shop', '.data.theme'),
    token: Buffer.from(await get('secret/web -n shop', '.data.token'), 'base64').toString('utf8'),
    port: await get('service/web -n shop', '.spec.ports[*].port'),
    team: await get('service/web -n shop', '.metadata.labels.team'),
    policy: await get('networkpolicy/edge-ingress -n ingress', '.metadata.name'),
    verbs: await get('clusterrole/ingress', '.rules[0].verbs'),
    automount: await get('serviceaccount/ingress -n ingress', '.automountServiceAccountToken'),
    minReadySeconds: await get('deployment/ingress -n ingress', '.spec.minReadySeconds'),
  }
}

/** The repository is on Gitea, and Flux is bootstrapped and has applied all of it. */
async function openFluxWorld(
  t: TestContext,
  plane: ControlPlane,
  gitea: Gitea,
): Promise<{ review: ReviewWorld; flux: FluxControllers }> {
  if (found.state === 'unavailable') throw new Error(found.why)
  const fixture = await createGiteaFixture(gitea)
  t.after(() => fixture.close())
  const url = `${fixture.gitea.url}/${fixture.owner.name}/${fixture.name}.git`
  const files = { ...fluxRepository({ url, definitions: found.definitions }), ...policy(PROPOSE) }
  const review = new ReviewWorld(fixture, await openWorld(t, plane, files))
  const { world } = review
  await review.git('push', '--quiet', '--force', review.address, 'main')
  const { components, sync } = bootstrapOf(files)
  const bootstrap = (text: string): Promise<string> =>
    world.pipe(text, 'apply', '--server-side', '--field-manager=flux', '--filename=-')
  await bootstrap(components)
  await world.kubectl('wait', '--for=condition=Established', '--all', 'crd', '--timeout=4m')
  await world.kubectl(
    'create',
    'secret',
    'generic',
    'cluster-secrets',
    '--namespace=flux-system',
    `--from-literal=api_token=${TOKEN}`,
  )
  await bootstrap(sync)
  const flux = await startFlux(plane, found)
  t.after(() => flux.stop())
  await flux.untilApplied(await world.remote('rev-parse', 'main'), KUSTOMIZATIONS)
  await flux.untilReleased('front')
  return { review, flux }
}
