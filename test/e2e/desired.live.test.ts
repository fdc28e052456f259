/** What git says is compared as the server would have it. Untouched, nothing differs; one edit is one line. */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { DriftReportList } from '../../src/record/documents/drift-report-list.ts'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import {
  createGadgetKind,
  desiredPackage,
  fixedPackage,
  type GadgetKind,
  HAND_EDITS,
  hpaOfOtherVersion,
  MORE_EDITS,
  misspeltPackage,
} from './desired-package.ts'
import { kptfile } from './packages.ts'
import { assertExit, openWorld, SYNCER, type World } from './world.ts'

await controlPlaneSuite('the desired object after a dry run', {}, (plane) => {
  let gadget: GadgetKind
  before(async () => {
    gadget = await createGadgetKind(plane)
  })

  test('what the server rewrites, defaults and converts is no difference, and one edit is exactly one line', async (t) => {
    const [server, client] = [await plane.namespace('server'), await plane.namespace('client')]
    const world = await openWorld(t, plane, {
      ...desiredPackage('apps/server', server, gadget),
      ...desiredPackage('apps/client', client, gadget),
    })
    // Git says v1 of the autoscaler; what is stored was applied as v2.
    await world.pipe(
      hpaOfOtherVersion(server),
      'apply',
      '--server-side',
      `--field-manager=${SYNCER}`,
      '--filename=-',
    )
    await world.sync('apps/server')
    await world.pipe(
      hpaOfOtherVersion(server),
      'apply',
      '--server-side',
      '--force-conflicts',
      `--field-manager=${SYNCER}`,
      '--filename=-',
    )
    await world.pipe(await world.show('main', 'apps/client/all.yaml'), 'apply', '--filename=-')

    for (const name of ['apps/server', 'apps/client']) {
      const calm = assertExit(await world.backporch('diff', name), 0)
      assert.equal(calm.stdout, '', name)
    }
    for (const [name, namespace] of [
      ['apps/server', server],
      ['apps/client', client],
    ] as const) {
      const edits = [...HAND_EDITS, ...MORE_EDITS]
      for (const { how } of edits) await world.kubectl(...how(gadget), '-n', namespace)
      await assertRequestedOnce(world, name, namespace)
      const lines = await changesOf(world, name)
      assert.deepEqual(lines, edits.map(({ line }) => line).sort(), name)
    }
  })

  test('blocks an immutable field with the message of the server, and compares other objects', async (t) => {
    const namespace = await plane.namespace('fixed')
    const world = await openWorld(t, plane, fixedPackage('apps/fixed', namespace, false))
    await world.sync('apps/fixed')
    assert.equal(assertExit(await world.backporch('diff'), 0).stdout, '')
    await world.commit(fixedPackage('apps/fixed', namespace, true), 'feat: the second')
    await world.kubectl(
      'patch',
      'configmap/free',
      '--patch={"data":{"key":"by hand"}}',
      '-n',
      namespace,
    )

    const run = await world.backporch('diff', '-o', 'json')
    const list: DriftReportList = JSON.parse(run.stdout)
    const changes = list.items.flatMap(({ spec }) =>
      spec.changes.map(({ ref, change, path }) => `${ref.kind}/${ref.name} ${change} ${path}`),
    )
    assert.deepEqual(changes, ['ConfigMap/free modified data.key'])
    const blocked = list.incomplete.map(
      (one) =>
        `${one.state} ${one.code} ${one.ref?.kind}/${one.ref?.name} ${one.why} -> ${one.remedy}`,
    )
    const remedy =
      'delete the object so that the syncer recreates it, or put the live value into git'
    assert.deepEqual(
      blocked
        .map((line) =>
          line
            .replace(/: updates to statefulset spec .* forbidden/, ': updates ...')
            .replace(/ \(apps\/fixed\/all\.yaml:\d+\)$/, ' (LINE)'),
        )
        .sort(),
      [
        'ConfigMap/fixed Immutable: data: Forbidden: field is immutable when `…` is set',
        'Deployment/fixed Immutable: spec.selector: field is immutable',
        'Job/fixed Immutable: spec.template: field is immutable',
        'Secret/fixed Immutable: data: Forbidden: field is immutable when `…` is set',
        'Service/fixed Immutable: spec.clusterIPs[0]: may not change once set',
        'StatefulSet/fixed Immutable: spec: Forbidden: updates ...',
      ].map((line) => `blocked BP3011 ${line} -> ${remedy} (LINE)`),
    )
    assert.doesNotMatch(run.stdout + run.stderr, /value-(one|two)/)
  })

  test('reports an unknown field once and never as drift; blocked if the next apply is refused', async (t) => {
    const [server, client] = [await plane.namespace('server'), await plane.namespace('client')]
    const world = await openWorld(t, plane, {
      ...misspeltPackage('apps/server', server, gadget, false),
      ...misspeltPackage('apps/client', client, gadget, true),
    })
    await world.sync('apps/server')
    await world.pipe(
      await world.show('main', 'apps/client/all.yaml'),
      'apply',
      '--validate=false',
      '--filename=-',
    )
    await world.commit(misspeltPackage('apps/server', server, gadget, true), 'feat: three replicas')
    const locations: [string, string][] = [
      ['Deployment', 'spec.replica'],
      ['Deployment', 'spec.template.spec.containers[name=app].imagePulPolicy'],
      ['Gadget', 'spec.colour'],
    ]
    const run = assertExit(await world.backporch('diff', '-v', 'apps/client'), 0)
    assert.equal(run.stdout, '')
    const reported = run.stderr.split('\n').map((line) => line.replace(/all\.yaml:\d+/, 'all.yaml'))
    for (const [kind, path] of locations) {
      const line = `note: apps/client/all.yaml: ${kind} ${client}/misspelt: the server does not know ${path} and drops it`
      assert.equal(
        reported.filter((each) => each === line || each.startsWith(`${line} [`)).length,
        1,
        `${line}\n---\n${run.stderr}`,
      )
    }
    const refused = assertExit(await world.backporch('diff', 'apps/server'), 3)
    assert.doesNotMatch(refused.stderr, /note: .*does not know/)
    for (const [kind, path] of locations) {
      const line = new RegExp(
        `^\\? ${kind} ${server}/misspelt blocked \\(BP3011\\): the server does not know .*\\(apps/server/all\\.yaml:\\d+\\)$`,
        'gm',
      )
      const [found, ...more] = refused.stdout.match(line) ?? []
      assert.ok(found?.includes(path) && more.length === 0, refused.stdout)
    }
    // Beside it a hand edit shows as ever.
    await world.kubectl(
      'patch',
      'deployment/misspelt',
      '--patch={"spec":{"minReadySeconds":4}}',
      '-n',
      server,
    )
    assert.deepEqual(await changesOf(world, 'apps/server', 3), [
      'Deployment/misspelt added spec.minReadySeconds kubectl-patch',
    ])
  })

  test("reports the current group of a moved kind, and reads an object without namespace in the context's", async (t) => {
    const name = await plane.namespace('moved')
    const world = await openWorld(t, plane, {
      'apps/moved/Kptfile': kptfile('moved'),
      'apps/moved/all.yaml': `apiVersion: extensions/v1beta1\nkind: Ingress\nmetadata: {name: web, namespace: ${name}}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: {a: b}\n`,
    })
    await world.pipe(
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: {a: b}\n`,
      'apply',
      '--server-side',
      `--field-manager=${SYNCER}`,
      '--filename=-',
    )
    const list: DriftReportList = JSON.parse((await world.backporch('diff', '-o', 'json')).stdout)
    assert.deepEqual(
      list.items.flatMap(({ spec }) => spec.changes),
      [],
    )
    assert.deepEqual(
      list.incomplete.map(({ ref, state, code, why, remedy }) => [
        ref?.kind,
        state,
        code,
        why,
        remedy,
      ]),
      [
        [
          'Ingress',
          'unreadable',
          'BP3009',
          'discovery does not list it; it serves Ingress in networking.k8s.io/v1',
          'write the manifest for networking.k8s.io/v1, or install what serves the kind',
        ],
      ],
    )
  })
})

async function changesOf(world: World, name: string, exit = 1): Promise<string[]> {
  const list: DriftReportList = JSON.parse(
    assertExit(await world.backporch('diff', name, '-o', 'json'), exit).stdout,
  )
  if (exit === 1) assert.deepEqual(list.incomplete, [])
  const changes = list.items.flatMap(({ spec }) => spec.changes)
  return changes
    .map(
      ({ ref, change, path, actor }) =>
        `${ref.kind}/${ref.name} ${change} ${path ?? ''} ${actor.manager}`,
    )
    .sort()
}

/**
 * In one turn nothing is read twice, and no object gets a second dry run. A request that the server could not answer is sent again. An
 * autoscaler, whose status its controller writes in between, is no object of the version that was read any more: it may be.
 */
async function assertRequestedOnce(world: World, name: string, namespace: string): Promise<void> {
  const { stderr } = assertExit(await world.backporch('diff', name, '--verbose'), 1)
  const answered = [...stderr.matchAll(/\b(GET|PATCH|POST) (\/api\S*) {2}2\d\d /g)].map(
    ([, method, path]) => `${method} ${path}`,
  )
  const about = answered.filter(
    (line) =>
      line.includes(`/namespaces/${namespace}/`) && !line.includes('/horizontalpodautoscalers'),
  )
  assert.ok(
    about.some((line) => line.startsWith('PATCH ')) &&
      about.some((line) => line.startsWith('GET ')),
    stderr,
  )
  const twice = about.filter((line, at) => about.indexOf(line) !== at)
  assert.deepEqual(twice, [], stderr)
}
