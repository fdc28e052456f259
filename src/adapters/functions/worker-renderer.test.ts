import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { answerCalls } from '@backporch/kpt/function'
import { passThroughText, renderFiles } from '@backporch/kpt/render'
import type { Failure } from '@backporch/kyaml/failure'
import type { PackageFiles } from '@backporch/kyaml/files'
import { getPartAt } from '@backporch/kyaml/json'
import { formatNoteSentence } from '@backporch/kyaml/note'
import { InProcessRenderer } from '../../../test/fakes/in-process-renderer.ts'
import { TOY_FUNCTIONS, toyPackage } from '../../../test/fakes/toy-functions.ts'
import type { TurnRendering } from '../../sources/kpt/render/package-renderer.ts'
import { renderPackage } from '../../sources/kpt/render/render-package.ts'
import { FUNCTION_LIMITS } from './function-limits.ts'
import { WorkerRenderer } from './worker-renderer.ts'

const never = new AbortController().signal
const MEBIBYTE = 1024 * 1024

function renderer(
  more: Partial<ConstructorParameters<typeof WorkerRenderer>[0]> = {},
): WorkerRenderer {
  return new WorkerRenderer({
    allowed: { exec: [], images: [] },
    engine: undefined,
    environment: {},
    ...more,
  })
}

function toys(more: Partial<ConstructorParameters<typeof WorkerRenderer>[0]> = {}): WorkerRenderer {
  const worker = {
    entry: new URL('../../../test/fakes/toy-render-worker.ts', import.meta.url),
    builtIns: TOY_FUNCTIONS,
  }
  return renderer({ limits: { ...FUNCTION_LIMITS, milliseconds: 2_000 }, worker, ...more })
}

function color(rendering: TurnRendering): unknown {
  if ('failures' in rendering) return rendering.failures.map(({ code, why }) => `${code} ${why}`)
  return rendering.desired.resources.map(
    ({ object }) => (object['data'] as Record<string, unknown>)['color'],
  )
}

function failureOf(rendering: TurnRendering): Failure {
  return 'failures' in rendering ? rendering.failures[0] : assert.fail('it rendered')
}

test('a worker renders the same output and failures as rendering in process', async () => {
  const pipelines = [
    [
      "image: 'ghcr.io/kptdev/krm-functions-catalog/set-labels:v0.2.0', configMap: {tier: backend}",
      'exec: set-annotations, configMap: {by: us}',
    ],
    ['image: set-namespace:v0.4.1, configMap: {namespace: other}'],
    ['exec: apply-setters'],
    ['exec: nobody'],
  ]
  const own = renderer()
  for (const mutators of pipelines) {
    const files = toyPackage(mutators, {
      'deploy.yaml':
        'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {n: 9007199254740993}\n',
    })
    const [inWorker, inProcess] = [
      await own.render('apps/web', files, never),
      await new InProcessRenderer().render('apps/web', files),
    ]
    if ('failures' in inProcess) {
      assert.deepEqual(
        'failures' in inWorker && inWorker.failures.map((one) => one.toJSON()),
        inProcess.failures.map((one) => one.toJSON()),
      )
      assert.ok(failureOf(inWorker) instanceof Error)
    } else {
      const { desired, kptfile, unread } = inProcess
      assert.deepEqual(inWorker, { desired, kptfile, unread })
    }
  }
})

test('a package without a pipeline is rendered once per content and path', async () => {
  const own = renderer()
  const files = toyPackage([], {
    'web.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n',
  })
  const first = await own.render('apps/web', files, never)
  assert.equal(await own.render('apps/web', [...files], never), first)
  assert.notEqual(await own.render('apps/db', files, never), first)
  const moved = files.map((file) =>
    file.path === 'web.yaml' ? { ...file, path: 'other.yaml' } : file,
  )
  assert.notEqual(await own.render('apps/web', moved, never), first)
})

test('notes an image whose tag can move, and a built-in function used in place of a program', async () => {
  const rendering = await renderer().render(
    'a',
    toyPackage([
      'image: set-namespace, configMap: {namespace: a}',
      'exec: bin/set-namespace, configMap: {namespace: a}',
    ]),
    never,
  )
  assert.deepEqual('desired' in rendering && rendering.desired.notes.map(formatNoteSentence), [
    'a/Kptfile:7 (mutator 1, set-namespace): set-namespace without a tag changes its release over time: v0.4.6 runs',
    'a/Kptfile:8 (mutator 2, set-namespace): the built-in set-namespace replaces the program "bin/set-namespace"',
  ])
})

test('reports all unavailable functions at once, subpackages first, independent of the package path', async () => {
  const kptfile = (name: string, functions: string): string =>
    `apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: ${name}}\npipeline:\n  validators: [{exec: looks}]\n  mutators:\n${functions}`
  const texts = {
    Kptfile: kptfile(
      'web',
      '  - image: set-labels:v0.2.0\n    configMap: {a: b}\n  - image: reg.example/one\n  - exec: two\n',
    ),
    'below/Kptfile': kptfile(
      'below',
      '  - image: starlark:v0.5.0\n  - image: set-labels:v0.2.0\n    configMap: {a: b}\n  - exec: may-run\n',
    ),
  }
  const content = (text: string): Uint8Array => new TextEncoder().encode(text)
  const files: PackageFiles = Object.entries(texts).map(([path, text]) => ({
    path,
    mode: '100644',
    content: content(text),
  }))
  const own = renderer({ allowed: { exec: ['may-run'], images: [] } })
  const wanted = [
    'BP1201 apps/web/below/Kptfile:7 (mutator 1, starlark)',
    'BP1206 apps/web/Kptfile:9 (mutator 2, one)',
    'BP1206 apps/web/Kptfile:10 (mutator 3, two)',
  ]
  for (const rendering of [
    await own.render('apps/web', files, never),
    answerCalls(renderFiles('apps/web', files), passThroughText(own.library)),
  ])
    assert.deepEqual(
      'failures' in rendering && rendering.failures.map(({ code, where }) => `${code} ${where}`),
      wanted,
    )
  const withoutProgram = files.map((file) => ({
    ...file,
    content: content(texts[file.path as keyof typeof texts].replace('  - exec: may-run\n', '')),
  }))
  const inProcess = await new InProcessRenderer().render('apps/web', withoutProgram)
  assert.deepEqual(
    'failures' in inProcess && inProcess.failures.map(({ code, where }) => `${code} ${where}`),
    wanted,
  )
})

test('an unavailable validator is skipped with a note, in rendering and in the plan', async () => {
  const text =
    'pipeline:\n  mutators:\n    - {image: set-labels:v0.2.0, configMap: {a: b}}\n  validators:\n    - {image: gcr.io/kpt-fn/kubeval:v0.3.0}\n'
  const files = toyPackage([], {
    'web.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n',
  }).map((file) =>
    file.path === 'Kptfile'
      ? { ...file, content: Buffer.concat([file.content, Buffer.from(text)]) }
      : file,
  )
  const own = renderer()
  const rendering = await own.render('a', files, never)
  if ('failures' in rendering) assert.fail(rendering.failures[0].message)
  assert.deepEqual(rendering.desired.notes.map(formatNoteSentence), [
    'a/Kptfile:9 (validator 1, kubeval): it did not run, so its results are unknown: the image gcr.io/kpt-fn/kubeval:v0.3.0: it is not built in; ' +
      'use a function that is built in, or allow this image with --allow-image=gcr.io/kpt-fn/kubeval:v0.3.0',
  ])
  assert.deepEqual(
    rendering.desired.resources.map(({ object }) => object.metadata),
    [{ name: 'web', labels: { a: 'b' } }],
  )
  const planned = answerCalls(renderPackage('a', files), own.library)
  assert.deepEqual('desired' in planned && planned.desired.resources, rendering.desired.resources)
})

describe('a built-in function that', () => {
  const own = toys({ workerMemory: 48 * MEBIBYTE })

  test('does not end is stopped at the limit, and the next package renders', async () => {
    const failure = failureOf(
      await own.render('a', toyPackage(['exec: paint', 'exec: endless']), never),
    )
    assert.deepEqual([failure.code, failure.where], ['BP1203', 'a/Kptfile:8 (mutator 2, endless)'])
    assert.match(failure.why, /^it did not end within 2 s/)
    assert.deepEqual(color(await own.render('a', toyPackage(['exec: paint']), never)), ['green'])
  })

  test('exhausts memory is stopped at the limit, and the next package renders', async () => {
    const slow = toys({ workerMemory: 48 * MEBIBYTE, limits: FUNCTION_LIMITS })
    const failure = failureOf(await slow.render('a', toyPackage(['exec: hungry']), never))
    assert.deepEqual([failure.code, failure.where], ['BP1203', 'a/Kptfile:7 (mutator 1, hungry)'])
    assert.deepEqual(color(await slow.render('a', toyPackage(['exec: paint']), never)), ['green'])
  })

  test('throws or exits its thread fails only its own package', async () => {
    const others = ['exec: broken', 'exec: quits', 'exec: paint', 'exec: paint, name: other'].map(
      (each) => toyPackage([each]),
    )
    const ends = await Promise.allSettled(others.map((files) => own.render('a', files, never)))
    assert.deepEqual(
      ends.map((end) =>
        end.status === 'fulfilled' ? color(end.value) : [end.reason.code, end.reason.why],
      ),
      [
        ['BP9001', 'TypeError: a toy broke'],
        ['BP9001', 'it ended with code 7'],
        ['green'],
        ['green'],
      ],
    )
  })

  test('runs after all callers have aborted is stopped', async () => {
    const [one, other] = [new AbortController(), new AbortController()]
    const files = toyPackage(['exec: endless'])
    const slow = toys({ limits: FUNCTION_LIMITS })
    const both = [one, other].map(({ signal }) => slow.render('a', files, signal))
    const ended = both.map((each) => assert.rejects(each, /gone home/))
    one.abort(new Error('gone home'))
    await ended[0]
    other.abort(new Error('gone home'))
    await ended[1]
    assert.deepEqual(color(await slow.render('a', toyPackage(['exec: paint']), never)), ['green'])
    await assert.rejects(
      slow.render('a', files, AbortSignal.abort(new Error('never came'))),
      /never came/,
    )
  })
})

test('equal files render once, even concurrently; another byte, mode or path is a new package', async () => {
  const own = toys()
  const render = (files: PackageFiles, path = 'a') => own.render(path, files, never)
  const files = toyPackage(['exec: paint'])
  const [one, other] = await Promise.all([render(files), render(toyPackage(['exec: paint']))])
  assert.equal(one, other)
  assert.equal(await render(files), one)
  assert.notEqual(await render(files, 'b'), one)
  assert.notEqual(await render(toyPackage(['exec: paint'], { 'notes.txt': 'x' })), one)
  assert.notEqual(await render(files.map((file) => ({ ...file, mode: '100755' as const }))), one)
})

test('failures are cached, except exceeded limits and missing runtimes', async () => {
  const own = toys()
  const again = async (mutator: string): Promise<boolean> => {
    const [one, other] = [
      await own.render('a', toyPackage([mutator]), never),
      await own.render('a', toyPackage([mutator]), never),
    ]
    assert.ok('failures' in one && 'failures' in other)
    return one === other
  }
  assert.equal(await again('exec: not-there'), true)
  assert.equal(await again('image: not-there:v1.0.0'), false)
  assert.equal(await again('exec: endless'), false)
})

test('a package without a pipeline needs no thread', async () => {
  const own = renderer({
    worker: { entry: new URL('file:///not/there.mjs'), builtIns: TOY_FUNCTIONS },
  })
  assert.deepEqual(color(await own.render('a', toyPackage([]), never)), ['blue'])
  await assert.rejects(own.render('a', toyPackage(['exec: paint']), never), { code: 'BP9001' })
})

test("Config Connector objects get the blueprint annotation, unless kpt's variable has an unsafe text", async () => {
  const files = toyPackage(['exec: set-labels, configMap: {team: shop}'], {
    'bucket.yaml':
      'apiVersion: storage.cnrm.cloud.google.com/v1beta1\nkind: StorageBucket\nmetadata: {name: logs}\n',
  })
  for (const [text, expected] of [
    [undefined, { 'cnrm.cloud.google.com/blueprint': 'kpt-fn' }],
    ['', { 'cnrm.cloud.google.com/blueprint': 'kpt-fn' }],
    ['false', undefined],
  ] as const) {
    const own = renderer({ environment: { KPT_DISABLE_ATTRIBUTION: text } })
    const rendering = await own.render('apps/web', files, never)
    assert.ok(!('failures' in rendering))
    const bucket = rendering.desired.resources.find(({ id }) => id.kind === 'StorageBucket')
    assert.deepEqual(getPartAt(bucket?.object, 'metadata', 'annotations'), expected)
    assert.equal(own.attributed, expected !== undefined)
  }
})
