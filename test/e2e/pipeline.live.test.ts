/**
 * A package with functions against a real API server: a hand edit is adopted at the place that the functions have the value from,
 * and the branch, rendered by the real kpt, gives what runs.
 */
import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import type { DriftReportList } from '../../src/record/documents/drift-report-list.ts'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { whyNoKpt } from '../kpt/find-kpt.ts'
import { buildFunctionPrograms, type FunctionPrograms } from '../render-corpus/run-kpt-render.ts'
import { kptfile, webPackage } from './packages.ts'
import {
  objectsOf,
  renderWithKpt,
  syncRendered,
  unrendered,
  webApplication,
} from './pipeline-package.ts'
import { assertExit, assertNoDrift, type Files, openWorld, type World } from './world.ts'

const WEB = 'apps/web'
const IMAGE = 'docker.io/nginxinc/nginx-unprivileged'
const PART_OF = 'metadata.labels["app.kubernetes.io/part-of"]'
const BODY_SIZE = 'metadata.annotations["nginx.ingress.kubernetes.io/proxy-body-size"]'

await controlPlaneSuite('pipeline', { controllerManager: true }, (plane) => {
  let programs: FunctionPrograms
  before(async () => {
    programs = await buildFunctionPrograms()
  })
  after(() => programs.remove())

  interface Opened {
    readonly world: World
    readonly ns: readonly string[]
  }

  /** The package of the catalog, in sync. */
  async function open(
    t: TestContext,
    form: (files: Files) => Files = (files) => files,
    more: Files = {},
  ): Promise<Opened> {
    const namespace = await plane.namespace('pipeline')
    const world = await openWorld(t, plane, { ...form(webApplication(namespace)), ...more })
    await syncRendered(world, WEB, programs)
    assert.equal(assertExit(await world.backporch('diff', WEB), 0).stdout, '')
    return { world, ns: ['-n', namespace] }
  }

  /** kpt renders the branch: it changes no byte of a package that is kept rendered, and gives what is live. */
  async function assertRendersToLive(
    world: World,
    branch: string,
    storedRendered: boolean,
    ...fields: readonly Field[]
  ): Promise<void> {
    const { given, files } = await renderWithKpt(world, branch, WEB, programs)
    if (storedRendered) assert.deepEqual(files, given)
    const objects = objectsOf(files)
    for (const [object, read] of fields) {
      const { metadata } = objects.get(object)
      const live = JSON.parse(
        await world.kubectl('get', object, '-n', metadata.namespace, '-o', 'json'),
      )
      assert.deepEqual(read(objects.get(object)), read(live), object)
    }
  }

  /** The proposal is merged, its package applied, and then all is well. @returns what approve prints */
  async function settle(world: World): Promise<string> {
    const { stdout } = assertExit(await world.backporch('approve', WEB, '--yes'), 0)
    await syncRendered(world, WEB, programs)
    assertExit(await world.backporch('scan', WEB), 0)
    assert.match(
      assertNoDrift(await world.backporch('status')).stdout,
      /^test +apps\/web +v1 +✓ InSync/m,
    )
    return stdout
  }

  test('reports each hand edit with its source, and adopts it at the source or refuses with the reason', {
    skip: whyNoKpt(),
  }, async (t) => {
    const { world, ns } = await open(t)
    await world.kubectl('scale', 'deployment/cache', '--replicas=3', ...ns)
    await world.kubectl('set', 'image', 'deployment/web', `web=${IMAGE}:1.29.2-alpine`, ...ns)
    await world.kubectl('set', 'env', 'deployment/web', 'TRACE=on', ...ns)
    await world.kubectl(
      'patch',
      'configmap/web',
      ...ns,
      '-p',
      '{"data":{"LOG_LEVEL":"debug","PUBLIC_URL":"https://shop.example.com/"}}',
    )
    await world.kubectl(
      'label',
      '--overwrite',
      'configmap/web',
      'app.kubernetes.io/part-of=shop',
      ...ns,
    )
    await world.kubectl(
      'annotate',
      'ingress/web',
      'nginx.ingress.kubernetes.io/proxy-body-size-',
      ...ns,
    )

    const changes = await changesOf(world)
    assert.deepEqual([...changes.keys()].sort(), [
      'ConfigMap/web modified data.LOG_LEVEL',
      'ConfigMap/web modified data.PUBLIC_URL',
      `ConfigMap/web modified ${PART_OF}`,
      'Deployment/cache modified spec.replicas',
      'Deployment/web added spec.template.spec.containers[name=web].env[name=TRACE]',
      'Deployment/web modified spec.template.spec.containers[name=web].image',
      `Ingress/web removed ${BODY_SIZE}`,
    ])
    const number = (line: string): string => String(changes.get(line))
    const [scaled, image, env, level, url, label, note] = [
      number('Deployment/cache modified spec.replicas'),
      number('Deployment/web modified spec.template.spec.containers[name=web].image'),
      number('Deployment/web added spec.template.spec.containers[name=web].env[name=TRACE]'),
      number('ConfigMap/web modified data.LOG_LEVEL'),
      number('ConfigMap/web modified data.PUBLIC_URL'),
      number(`ConfigMap/web modified ${PART_OF}`),
      number(`Ingress/web removed ${BODY_SIZE}`),
    ]

    const wide = assertExit(await world.backporch('diff', '-o', 'wide'), 1).stdout
    assert.deepEqual(originsIn(wide, scaled), [
      `${await locationOf(world, 'main', `${WEB}/cache.yaml`, /replicas: /)}`,
      `written by apply-setters (step 1, ${WEB}/Kptfile:16), pattern \${cache-replicas}, from setter cache-replicas at ${await locationOf(world, 'main', `${WEB}/setters.yaml`, /cache-replicas: /)}`,
    ])
    assert.deepEqual(originsIn(wide, image), [
      `${await locationOf(world, 'main', `${WEB}/deployment.yaml`, /image: /)}`,
      `written by set-image (step 4, ${WEB}/Kptfile:28), from entry newTag at ${await locationOf(world, 'main', `${WEB}/Kptfile`, /newTag: /)}`,
    ])
    assert.match(
      originsIn(wide, env).join(),
      /^not there; it would go into apps\/web\/deployment\.yaml:\d+/,
    )
    assert.match(
      originsIn(wide, label)[1] ?? '',
      /^written by set-labels .*, from label app\.kubernetes\.io\/part-of at apps\/web\/Kptfile:25:\d+$/,
    )
    assert.deepEqual(originsIn(wide, note), [
      await locationOf(world, 'main', `${WEB}/ingress.yaml`, /proxy-body-size: /),
    ])
    const explained = assertExit(await world.backporch('explain', WEB, url), 0).stdout.replace(
      /\s+/g,
      ' ',
    )
    assert.match(explained, /git apps\/web\/configmap\.yaml:10:15 written by apply-setters/)
    assert.match(
      explained,
      /pattern https:\/\/\$\{host\}\.\$\{domain\}\/, from setter host at .*setters\.yaml:\d+:\d+ and setter domain at /,
    )

    // What would move something else is refused, and nothing is written.
    const refs = await world.refs()
    assertRefused(
      await world.backporch('adopt', WEB, label),
      `cannot adopt ${PART_OF} of ConfigMap`,
      [
        'the label app.kubernetes.io/part-of of set-labels (apps/web/Kptfile:25), and an edit there would also change',
        'metadata.labels["app.kubernetes.io/part-of"] of Deployment',
      ],
    )
    assertRefused(
      await world.backporch('adopt', WEB, url),
      'cannot adopt data.PUBLIC_URL of ConfigMap',
      [
        'the setter host of apply-setters (apps/web/setters.yaml:16), and an edit there would also change spec.rules[0].host of Ingress',
      ],
    )
    assert.deepEqual(await world.refs(), refs)

    // Each of the others, by itself, at its place.
    const locations: readonly (readonly [string, readonly string[]])[] = [
      [
        scaled,
        [
          'cache.yaml -  replicas: 1 # kpt-set: ${cache-replicas}',
          'cache.yaml +  replicas: 3 # kpt-set: ${cache-replicas}',
          'setters.yaml -  cache-replicas: "1"',
          'setters.yaml +  cache-replicas: "3"',
        ],
      ],
      [
        image,
        [
          'Kptfile -        newTag: 1.29.1-alpine',
          'Kptfile +        newTag: 1.29.2-alpine',
          `deployment.yaml -          image: ${IMAGE}:1.29.1-alpine`,
          `deployment.yaml +          image: ${IMAGE}:1.29.2-alpine`,
        ],
      ],
      [
        env,
        [
          'deployment.yaml +          env:',
          'deployment.yaml +            - name: TRACE',
          'deployment.yaml +              value: "on"',
        ],
      ],
      [
        level,
        [
          'configmap.yaml -  LOG_LEVEL: warn # kpt-set: ${log-level}',
          'configmap.yaml +  LOG_LEVEL: debug # kpt-set: ${log-level}',
          'setters.yaml -  log-level: warn',
          'setters.yaml +  log-level: debug',
        ],
      ],
      [
        note,
        [
          'ingress.yaml -  annotations:',
          'ingress.yaml -    nginx.ingress.kubernetes.io/proxy-body-size: 8m',
        ],
      ],
    ]
    const expected: string[] = []
    for (const [change, lines] of locations) {
      assertExit(await world.backporch('adopt', WEB, change), 0)
      expected.push(...lines)
      assert.deepEqual((await linesOf(world)).toSorted(), expected.toSorted())
    }

    await assertRendersToLive(
      world,
      await onlyBranch(world),
      true,
      ['Deployment/cache', ({ spec }) => spec.replicas],
      ['Deployment/web', ({ spec }) => spec.template.spec.containers[0].image],
      ['Deployment/web', ({ spec }) => spec.template.spec.containers[0].env],
      ['ConfigMap/web', ({ data }) => data.LOG_LEVEL],
      ['Ingress/web', ({ metadata }) => metadata.annotations],
    )
    // What functions read is in files of its own, and is not for a cluster.
    const files = [
      'autoscaling',
      'cache',
      'configmap',
      'deployment',
      'ingress',
      'service',
      'serviceaccount',
    ].map((name) => `-f ${WEB}/${name}.yaml`)
    const apply = `kubectl apply --server-side --force-conflicts --field-manager=ci ${files.join(' ')}`
    const approved = await settle(world)
    assert.ok(approved.includes(`  run: kpt fn render ${WEB} && ${apply}\n`), approved)
    const data = JSON.parse(await world.kubectl('get', 'configmap/web', ...ns, '-o', 'json'))
    assert.deepEqual(
      [data.data.PUBLIC_URL, data.data.LOG_LEVEL],
      ['https://www.example.com/', 'debug'],
    )
  })

  test('adopts the source of two objects when both drifted alike; --via chooses between two; a setter sets part of a list', {
    skip: whyNoKpt(),
  }, async (t) => {
    const { world, ns } = await open(t)
    const patch = (what: string, path: string, value: string): Promise<string> =>
      world.kubectl(
        'patch',
        what,
        ...ns,
        '--type=json',
        '--patch',
        JSON.stringify([{ op: 'replace', path, value }]),
      )
    await patch('configmap/web', '/data/PUBLIC_URL', 'https://www.shop.example.com/')
    await patch('ingress/web', '/spec/rules/0/host', 'www.shop.example.com')
    await patch('deployment/cache', '/spec/template/spec/containers/0/args/0', '--memory-limit=96')

    const changes = await changesOf(world)
    const [url, rules, limit] = [
      changes.get('ConfigMap/web modified data.PUBLIC_URL'),
      changes.get('Ingress/web modified spec.rules'),
      changes.get('Deployment/cache modified spec.template.spec.containers[name=cache].args'),
    ]
    assertRefused(await world.backporch('adopt', WEB, `${url}`), 'cannot adopt data.PUBLIC_URL', [
      'would also change spec.rules[0].host of Ingress',
    ])
    assertRefused(await world.backporch('adopt', WEB, `${rules}`), 'cannot adopt spec.rules', [
      'would also change data.PUBLIC_URL of ConfigMap',
    ])
    // The host www.shop of example.com, and the host www of shop.example.com, are one name.
    const both = await world.backporch('adopt', WEB, `${rules},${url}`)
    assert.match(
      assertExit(both, 2).stderr,
      /^error BP2014: .* {2}fix: choose one with --via, as in --via=setter:domain\n/ms,
    )
    assert.match(
      both.stderr,
      /the setter domain of apply-setters \(.*:17\) as "setter:domain", the setter host of .* as "setter:host"/,
    )
    const unknown = await world.backporch('adopt', WEB, `${limit}`, '--via', 'setter:host')
    assert.match(
      assertExit(unknown, 2).stderr,
      /^error BP2014: .*"setter:host"\n.*these do: the setter cache-size .*"setter:cache-size"/ms,
    )

    assertExit(await world.backporch('adopt', WEB, `${rules},${url}`, '--via', 'setter:host'), 0)
    assertExit(await world.backporch('adopt', WEB, `${limit}`), 0)
    assert.deepEqual(
      (await linesOf(world)).filter((line) => line.startsWith('setters.yaml')),
      [
        'setters.yaml -  host: www',
        'setters.yaml +  host: www.shop',
        'setters.yaml -  cache-size: "64"',
        'setters.yaml +  cache-size: "96"',
      ],
    )
    await assertRendersToLive(
      world,
      await onlyBranch(world),
      true,
      ['ConfigMap/web', ({ data }) => data.PUBLIC_URL],
      ['Ingress/web', ({ spec }) => spec.rules],
      ['Deployment/cache', ({ spec }) => spec.template.spec.containers[0].args],
    )
    await settle(world)
  })

  test('releases a field that a setter fills, and restores another', {
    skip: whyNoKpt(),
  }, async (t) => {
    const { world, ns } = await open(t)
    await world.kubectl('scale', 'deployment/cache', '--replicas=4', ...ns)
    await world.kubectl('patch', 'configmap/web', ...ns, '-p', '{"data":{"LOG_LEVEL":"debug"}}')
    assertExit(await world.backporch('restore', WEB), 0)
    assertExit(await world.backporch('release', WEB, 'deployment/cache'), 0)
    assert.deepEqual(await linesOf(world), [
      'cache.yaml -  replicas: 1 # kpt-set: ${cache-replicas}',
    ])
    await assertRendersToLive(world, await onlyBranch(world), true)
    await settle(world)
    assert.equal(
      await world.kubectl('get', 'deployment/cache', ...ns, '-o', 'jsonpath={.spec.replicas}'),
      '4',
    )
    assert.equal(
      await world.kubectl('get', 'configmap/web', ...ns, '-o', 'jsonpath={.data.LOG_LEVEL}'),
      'warn',
    )
  })

  test('edits only what people wrote in a package that is not kept rendered', {
    skip: whyNoKpt(),
  }, async (t) => {
    const { world, ns } = await open(t, unrendered)
    assert.doesNotMatch(world.read(`${WEB}/deployment.yaml`), /namespace|part-of|1\.29/)
    await world.kubectl('scale', 'deployment/cache', '--replicas=2', ...ns)
    await world.kubectl('set', 'image', 'deployment/web', `web=${IMAGE}:1.29.2-alpine`, ...ns)
    await world.kubectl(
      'patch',
      'configmap/web',
      ...ns,
      '-p',
      '{"data":{"LOG_LEVEL":"debug","CACHE_SERVER":"other:11211"}}',
    )
    assertExit(await world.backporch('adopt', WEB), 0)
    assert.deepEqual((await linesOf(world)).toSorted(), [
      'Kptfile +        newTag: 1.29.2-alpine',
      'Kptfile -        newTag: 1.29.1-alpine',
      'cache.yaml +  replicas: 2 # kpt-set: ${cache-replicas}',
      'cache.yaml -  replicas: 1 # kpt-set: ${cache-replicas}',
      'configmap.yaml +  CACHE_SERVER: other:11211',
      'configmap.yaml -  CACHE_SERVER: cache:11211',
      'setters.yaml +  cache-replicas: "2"',
      'setters.yaml +  log-level: debug',
      'setters.yaml -  cache-replicas: "1"',
      'setters.yaml -  log-level: warn',
    ])
    await assertRendersToLive(
      world,
      await onlyBranch(world),
      false,
      ['Deployment/cache', ({ spec }) => spec.replicas],
      ['Deployment/web', ({ spec }) => spec.template.spec.containers[0].image],
      ['ConfigMap/web', ({ data }) => data],
    )
    await settle(world)
  })

  test('fails only the package whose function cannot run, and reports the others as usual', async (t) => {
    const namespace = await plane.namespace('pipeline')
    const mutator = (image: string): string => `pipeline:\n  mutators:\n  - image: ${image}\n`
    const world = await openWorld(t, plane, {
      ...webPackage(namespace),
      ...webPackage(namespace, 'apps/other'),
      'apps/other/Kptfile': kptfile(
        'other',
        mutator('ghcr.io/kptdev/krm-functions-catalog/export-terraform:v0.1.0'),
      ),
      ...webPackage(namespace, 'apps/own'),
      'apps/own/Kptfile': kptfile('own', mutator('registry.example.com/functions/add-sidecar:v1')),
    })
    await world.sync(WEB)
    await world.kubectl('scale', 'deployment/web', '--replicas=5', '-n', namespace)
    for (const verb of ['diff', 'scan']) {
      const run = assertExit(await world.backporch(verb), 2)
      const missing =
        /^error BP1201: RuntimeMissing\(export-terraform\): .*\n {2}where: apps\/other\/Kptfile:11 \(mutator 1, export-terraform\)\n/m
      assert.match(run.stderr, missing)
      assert.match(
        run.stderr,
        /^ {2}why: the image ghcr\.io\/.*\/export-terraform:v0\.1\.0: it is not built in\n {2}fix: .*$/m,
      )
      assert.match(
        run.stderr,
        /^error BP1206: .*add-sidecar\n {2}where: apps\/own\/Kptfile:11 .*\n {2}why: registry\.example\.com\/.*\n {2}fix: .*$/m,
      )
      assert.match(run.stdout, /spec\.replicas +3 → 5/)
    }
    const branches = await world.proposals()
    assert.deepEqual(
      branches.map((branch) => branch.replace(/[0-9a-f]{8}$/, '')),
      ['drafts/apps/web/drift-'],
    )
    const list: DriftReportList = JSON.parse((await world.backporch('diff', '-o', 'json')).stdout)
    assert.deepEqual(list.incomplete.map(({ package: path, code }) => `${path} ${code}`).sort(), [
      'apps/other BP1201',
      'apps/own BP1206',
    ])
  })
})

type Field = readonly [object: string, read: (object: ReturnType<typeof JSON.parse>) => unknown]

/** The number that `diff` gives each change, by `Kind/name change path`. */
async function changesOf(world: World): Promise<ReadonlyMap<string, number>> {
  const list: DriftReportList = JSON.parse(
    assertExit(await world.backporch('diff', WEB, '-o', 'json'), 1).stdout,
  )
  const changes = list.items[0]?.spec.changes ?? []
  return new Map(
    changes.map(({ ref, change, path }, index) => [
      `${ref.kind}/${ref.name} ${change} ${path ?? ''}`,
      index + 1,
    ]),
  )
}

/** The lines below the one with this number. */
function originsIn(wide: string, number: string): string[] {
  const lines = wide.split('\n')
  const start = lines.findIndex((line) => new RegExp(`^ +${number} [^ ]`).test(line))
  const rest = lines.slice(start + 1)
  return rest
    .slice(
      0,
      rest.findIndex((line) => !line.startsWith('       ')),
    )
    .map((line) => line.trim())
}

/** `apps/web/setters.yaml:21:19`, of the value behind the text. */
async function locationOf(
  world: World,
  revision: string,
  path: string,
  text: RegExp,
): Promise<string> {
  const lines = (await world.show(revision, path)).split('\n')
  const line = lines.findIndex((each) => text.test(each))
  const [found = ''] = text.exec(lines[line] ?? '') ?? []
  return `${path}:${line + 1}:${(lines[line] ?? '').indexOf(found) + found.length + 1}`
}

async function onlyBranch(world: World): Promise<string> {
  const [branch, ...more] = await world.proposals()
  assert.ok(branch !== undefined && more.length === 0, `branches: ${[branch, ...more].join(' ')}`)
  return branch
}

/** Lines of the package that the proposal changes, behind the name of the file; without the condition that says so. */
async function linesOf(world: World): Promise<string[]> {
  const diff = await world.remote('diff', '--unified=0', 'main', await onlyBranch(world), '--', WEB)
  let file = ''
  const lines: string[] = []
  for (const line of diff.split('\n')) {
    if (line.startsWith('+++ ')) file = line.slice(`+++ b/${WEB}/`.length)
    else if (/^[+-](?![+-])/.test(line)) lines.push(`${file} ${line}`)
  }
  const status = lines.indexOf('Kptfile +status:')
  return status === -1 ? lines : lines.toSpliced(status, 6)
}

function assertRefused(
  run: Awaited<ReturnType<World['backporch']>>,
  what: string,
  whys: readonly string[],
): void {
  const { stderr } = assertExit(run, 2)
  assert.ok(stderr.startsWith(`error BP2001: ${what}`), stderr)
  assert.match(
    stderr,
    /^ {2}where: apps\/web\/[a-z]+\.yaml:1\n {2}why: .*\n {2}fix: choose restore; adopt those fields in the same call, .*$/m,
  )
  for (const why of whys) assert.ok(stderr.includes(why), `${why} is not in\n${stderr}`)
}
