/**
 * Objects of Config Connector against a real API server, with what the real kpt records on them: git rendered or as authored, applied with kpt's
 * annotation or without, with functions and without. All are in sync, and an edit beside the annotation is found, adopted and settled.
 */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import type { DriftReportList } from '../../src/record/documents/drift-report-list.ts'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { whyNoKpt } from '../kpt/find-kpt.ts'
import { withPrograms } from '../render-corpus/catalog-packages.ts'
import {
  buildFunctionPrograms,
  type FunctionPrograms,
  runKptRender,
} from '../render-corpus/run-kpt-render.ts'
import { objectsOf } from './pipeline-package.ts'
import { createDefinition } from './shop-package.ts'
import { assertExit, assertNoDrift, type Files, openWorld, SYNCER, type World } from './world.ts'

const BLUEPRINT = 'cnrm.cloud.google.com/blueprint'

interface Form {
  readonly name: string
  readonly pipeline: boolean
  /** Whether git has what kpt renders. */
  readonly rendered: boolean
  /** Whether what was applied has the annotation. */
  readonly attributed: boolean
}

const FORMS: readonly Form[] = [true, false].flatMap((pipeline) =>
  [true, false].flatMap((rendered) =>
    [true, false].map((attributed) => ({
      name: [
        pipeline ? 'functions' : 'plain',
        rendered ? 'rendered' : 'authored',
        attributed ? 'with' : 'without',
      ].join('-'),
      pipeline,
      rendered,
      attributed,
    })),
  ),
)

const PIPELINE = `pipeline:
  mutators:
  - image: ghcr.io/kptdev/krm-functions-catalog/set-labels:v0.2.0
    configMap: {team: shop}
`

function authored({ name, pipeline }: Form, namespace: string): Files {
  const bucket = (
    title: string,
    annotations: string,
  ): string => `apiVersion: storage.cnrm.cloud.google.com/v1beta1
kind: StorageBucket
metadata:
  name: ${name}-${title}
  namespace: ${namespace}
${annotations}spec:
  location: eu # where the law wants it
`
  const blueprint = `  annotations:\n    ${BLUEPRINT}: cnrm/landing-zone/v1,kpt-pkg\n`
  return {
    Kptfile: `apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: ${name}\n  labels:\n    team: shop\n${pipeline ? PIPELINE : ''}`,
    'buckets.yaml': `${bucket('logs', '')}---\n${bucket('media', blueprint)}`,
  }
}

await controlPlaneSuite('attribution', {}, (plane) => {
  let programs: FunctionPrograms
  before(async () => {
    programs = await buildFunctionPrograms()
    const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
    await createDefinition(plane, {
      metadata: { name: 'storagebuckets.storage.cnrm.cloud.google.com' },
      spec: {
        group: 'storage.cnrm.cloud.google.com',
        scope: 'Namespaced',
        names: {
          plural: 'storagebuckets',
          singular: 'storagebucket',
          kind: 'StorageBucket',
          listKind: 'StorageBucketList',
        },
        versions: [
          {
            name: 'v1beta1',
            served: true,
            storage: true,
            schema: {
              openAPIV3Schema: { type: 'object', properties: { spec: open, status: open } },
            },
          },
        ],
      },
    })
  })
  after(() => programs.remove())

  async function kptRender(files: Files, unattributed?: true): Promise<Files> {
    const {
      ok,
      text,
      files: after,
    } = await runKptRender(withPrograms(files), programs, unattributed)
    assert.ok(ok, text)
    return after
  }

  /** Applies what kpt makes of the package, or what is in the files of one without functions. */
  async function apply(
    world: World,
    { name, pipeline, attributed }: Form,
    how: readonly string[],
  ): Promise<void> {
    const files = Object.fromEntries(
      await Promise.all(
        ['Kptfile', 'buckets.yaml'].map(
          async (path) => [path, await world.show('main', `apps/${name}/${path}`)] as const,
        ),
      ),
    )
    const applied =
      pipeline || attributed ? await kptRender(files, attributed ? undefined : true) : files
    const items = [...objectsOf(applied).values()]
    // A package without functions that git has rendered, from before its first render.
    if (!attributed) for (const { metadata } of items) takeRenderOff(metadata)
    await world.pipe(
      JSON.stringify({ apiVersion: 'v1', kind: 'List', items }),
      'apply',
      ...how,
      '--filename=-',
    )
  }

  interface Opened {
    readonly world: World
    readonly namespace: string
    readonly sync: () => Promise<void>
  }

  async function open(t: TestContext, how: readonly string[]): Promise<Opened> {
    const namespace = await plane.namespace('attribution')
    const files: Record<string, string> = {}
    for (const form of FORMS) {
      const own = authored(form, namespace)
      const stored = form.rendered
        ? { ...(await kptRender(own)), Kptfile: own['Kptfile'] ?? '' }
        : own
      for (const [path, text] of Object.entries(stored)) files[`apps/${form.name}/${path}`] = text
    }
    const world = await openWorld(t, plane, files)
    const sync = async (): Promise<void> => {
      for (const form of FORMS) await apply(world, form, how)
    }
    await sync()
    return { world, namespace, sync }
  }

  const SERVER_SIDE = ['--server-side', '--force-conflicts', `--field-manager=${SYNCER}`]

  for (const [title, how] of [
    ['server-side', SERVER_SIDE],
    ['client-side', []],
  ] as const)
    test(`each package applied ${title} is in sync, also with read access only`, {
      skip: whyNoKpt(),
    }, async (t) => {
      const { world, namespace } = await open(t, how)
      assert.equal(assertExit(await world.backporch('diff', '--show-ignored'), 0).stdout, '')
      assertExit(await world.backporch('scan'), 0)
      const { stdout } = assertNoDrift(await world.backporch('status'))
      for (const { name } of FORMS)
        assert.match(stdout, new RegExp(`^test +apps/${name} +- +✓ InSync`, 'm'), stdout)
      // A recording holds no dry run: what is applied server-side is proven by its owners.
      if (how.length === 0) return
      const recording = join(world.folder, 'recording.json')
      writeFileSync(
        recording,
        await world.kubectl(
          'get',
          'storagebuckets',
          '-n',
          namespace,
          '--show-managed-fields',
          '-o',
          'json',
        ),
      )
      const recorded = assertExit(await world.backporch('diff', '--live', recording), 0)
      assert.equal(recorded.stdout, '')
    })

  test('an edit next to the annotation is drift, and is adopted without the annotation', {
    skip: whyNoKpt(),
  }, async (t) => {
    const { world, namespace, sync } = await open(t, SERVER_SIDE)
    for (const { name } of FORMS)
      await world.kubectl(
        'patch',
        `storagebucket/${name}-logs`,
        '-n',
        namespace,
        '--type=merge',
        '--field-manager=kubectl-edit',
        '-p',
        '{"spec":{"location":"us"}}',
      )
    const changes = await changesOf(world)
    assert.deepEqual(
      changes,
      FORMS.map(({ name }) => `apps/${name} ${name}-logs modified spec.location`).sort(),
    )
    for (const { name } of FORMS) {
      assertExit(await world.backporch('adopt', `apps/${name}`), 0)
      const branch = (await world.proposals()).find((each) => each.includes(`/apps/${name}/`)) ?? ''
      const diff = await world.remote(
        'diff',
        '--unified=0',
        'main',
        branch,
        '--',
        `apps/${name}/buckets.yaml`,
      )
      assert.deepEqual(
        diff.split('\n').filter((line) => /^[+-](?![+-])/.test(line)),
        ['-  location: eu # where the law wants it', '+  location: us # where the law wants it'],
      )
      assertExit(await world.backporch('approve', `apps/${name}`, '--yes'), 0)
    }
    await world.git('pull', '--quiet')
    await sync()
    assertExit(await world.backporch('scan'), 0)
    const { stdout } = assertNoDrift(await world.backporch('status'))
    for (const { name } of FORMS)
      assert.match(stdout, new RegExp(`^test +apps/${name} +v1 +✓ InSync`, 'm'), stdout)
  })

  test('another value of the annotation is drift', { skip: whyNoKpt() }, async (t) => {
    const { world, namespace } = await open(t, SERVER_SIDE)
    const annotate = (object: string, value: string): Promise<string> =>
      world.kubectl(
        'annotate',
        '--overwrite',
        `storagebucket/${object}`,
        '-n',
        namespace,
        `${BLUEPRINT}=${value}`,
      )
    await annotate('functions-authored-with-media', 'cnrm/landing-zone/v2,kpt-pkg-fn')
    await annotate('plain-authored-without-media', 'cnrm/landing-zone/v1,kpt-pkg-fn-live')
    assert.deepEqual(await changesOf(world), [
      `apps/functions-authored-with functions-authored-with-media modified metadata.annotations["${BLUEPRINT}"]`,
    ])
  })
})

/** As it was before kpt rendered the file. */
function takeRenderOff(metadata: { annotations?: Record<string, string> }): void {
  const { [BLUEPRINT]: blueprint = '' } = metadata.annotations ?? {}
  const before = blueprint.replace(/-fn$/, '').replace(/^kpt$/, '')
  if (before === '') delete metadata.annotations
  else metadata.annotations = { [BLUEPRINT]: before }
}

/** What `diff` tells, as `package object change path`. */
async function changesOf(world: World): Promise<readonly string[]> {
  const list: DriftReportList = JSON.parse(
    assertExit(await world.backporch('diff', '-o', 'json'), 1).stdout,
  )
  return list.items
    .flatMap(({ spec }) =>
      spec.changes.map(
        ({ ref, change, path }) => `${spec.unit.package} ${ref.name} ${change} ${path ?? ''}`,
      ),
    )
    .sort()
}
