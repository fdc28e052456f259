/** `render`: what a render would change, told file by file. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { runInWorld } from '../../test/fakes/cli-world.ts'
import { InProcessRenderer } from '../../test/fakes/in-process-renderer.ts'
import { policyText, TurnWorld } from '../../test/fakes/turn-world.ts'
import { renderPackages } from '../reconcile/repository/sources/render-packages.ts'
import type { PackageRenderer } from '../sources/kpt/render/package-renderer.ts'
import { Unanswered } from '../sources/programs/questions.ts'

const KPTFILE = `apiVersion: kpt.dev/v1
kind: Kptfile
metadata:
  name: web
pipeline:
  mutators:
    - image: ghcr.io/kptdev/krm-functions-catalog/set-namespace:v0.4.1
      configMap:
        namespace: shop
`

function config(namespace: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\n${namespace}data:\n  a: b\n`
}

function worldOf(files: { readonly [path: string]: string }): TurnWorld {
  const world = new TurnWorld()
  world.repository.commitByHand('main', files)
  return world
}

test('a package that is already rendered has no changes and exits 0', async () => {
  const world = worldOf({
    'apps/web/Kptfile': KPTFILE,
    'apps/web/config.yaml': config('  namespace: shop\n'),
  })
  const { stdout, stderr, code } = await runInWorld(world, ['render', 'apps/web'])
  assert.equal(code, 0, stderr)
  // The Deployment and the ConfigMap: a Kptfile is no resource.
  assert.match(stdout, /^. apps\/web {2}1 function, 2 resources, 0 files would change$/m)
})

test('a file that a function changes is shown as a diff, with exit 1', async () => {
  const world = worldOf({ 'apps/web/Kptfile': KPTFILE, 'apps/web/config.yaml': config('') })
  const { stdout, code } = await runInWorld(world, ['render', 'apps/web'])
  assert.equal(code, 1)
  assert.match(
    stdout,
    /1 file would change\n--- git\/apps\/web\/config\.yaml\n\+\+\+ rendered\/apps\/web\/config\.yaml\n@@[\s\S]*\n\+ {2}namespace: shop\n/,
  )
})

test('a render is recorded on Config Connector objects even without a pipeline, unless disabled', async () => {
  const bucket =
    'apiVersion: storage.cnrm.cloud.google.com/v1beta1\nkind: StorageBucket\nmetadata:\n  name: logs\n'
  const world = worldOf({
    'apps/b/Kptfile': 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: b\n',
    'apps/b/bucket.yaml': bucket,
  })
  const { stdout, code } = await runInWorld(world, ['render', 'apps/b'])
  assert.equal(code, 1)
  assert.match(
    stdout,
    /\n\+ {2}annotations:\n\+ {4}cnrm\.cloud\.google\.com\/blueprint: 'kpt-fn'\n/,
  )
  const unattributed = Object.assign(new InProcessRenderer(), { attributed: false })
  assert.equal((await runInWorld(world, ['render', 'apps/b'], { renderer: unattributed })).code, 0)
})

test('hides the lines of a file with a Secret', async () => {
  const secret =
    'apiVersion: v1\nkind: Secret\nmetadata:\n  name: web\nstringData:\n  password: hunter2\n'
  const { stdout, code } = await runInWorld(
    worldOf({ 'apps/web/Kptfile': KPTFILE, 'apps/web/secret.yaml': secret }),
    ['render', 'apps/web'],
  )
  assert.equal(code, 1)
  assert.match(
    stdout,
    /apps\/web\/secret\.yaml: changes; its lines are not shown, because it may hold a Secret/,
  )
  assert.doesNotMatch(stdout, /hunter2/)
})

test('hides a credential beside a changed line', async () => {
  const file = `${config('')}  db-password: hunter2\n`
  const { stdout, code } = await runInWorld(
    worldOf({ 'apps/web/Kptfile': KPTFILE, 'apps/web/config.yaml': file }),
    ['render', 'apps/web'],
  )
  assert.equal(code, 1)
  assert.match(stdout, /\n {3}a: b\n {3}db-password: hmac-sha256:[0-9a-f]+/)
  assert.doesNotMatch(stdout, /hunter2/)
})

test('a function that nothing can run is an error of its package, and other packages are rendered', async () => {
  const world = worldOf({
    'apps/web/Kptfile': KPTFILE,
    'apps/web/config.yaml': config('  namespace: shop\n'),
    'apps/other/Kptfile': KPTFILE.replace('set-namespace:v0.4.1', 'no-such-function:v1').replace(
      'name: web',
      'name: other',
    ),
  })
  const { stdout, stderr, code } = await runInWorld(world, ['render'])
  assert.equal(code, 2)
  assert.match(stdout, /apps\/other {2}does not render/)
  assert.match(stdout, /apps\/web {2}1 function/)
  assert.match(
    stderr,
    /error BP1201: RuntimeMissing\(no-such-function\)[\s\S]*apps\/other\/Kptfile:7/,
  )
})

/** A renderer of which one function has to be waited for, and then gives no answer. */
function withoutAnswer(name: string, thrown: unknown): PackageRenderer {
  const built = new InProcessRenderer()
  return {
    attributed: true,
    render: (path, files) => built.render(path, files),
    library: {
      answer: (call) => {
        if (call.step.function.image?.includes(name))
          throw new Unanswered({ kind: 'function', call })
        return built.library.answer(call)
      },
    },
    fetch: async () => {
      throw thrown
    },
  }
}

const TWO = {
  'apps/web/Kptfile': KPTFILE,
  'apps/web/config.yaml': config('  namespace: shop\n'),
  'apps/slow/Kptfile': KPTFILE.replace('set-namespace', 'slow').replace('name: web', 'name: slow'),
  'apps/slow/config.yaml': config(''),
}

test('a skipped validator is reported in every output, and the package is rendered', async () => {
  const validated = `${KPTFILE}  validators:\n    - image: gcr.io/kpt-fn/kubeval:v0.3.0\n`
  const world = worldOf({ 'apps/web/Kptfile': validated, 'apps/web/config.yaml': config('') })
  for (const output of [[], ['-o', 'unwrap'], ['-o', 'resourcelist']]) {
    const { stdout, stderr, code } = await runInWorld(world, ['render', 'apps/web', ...output])
    assert.equal(code, output.length === 0 ? 1 : 0, stderr)
    assert.match(stdout, /namespace: shop/)
    assert.match(
      stderr,
      /^note: apps\/web\/Kptfile:11 \(validator 1, kubeval\): it did not run, so its results are unknown: /m,
    )
  }
})

test('a function that fails or hangs is an error of its package, and others are rendered', async () => {
  for (const retry of ['backoff', 'on-change'] as const) {
    const hangs = new Failure({
      code: 'BP1203',
      what: 'slow broke a limit',
      why: 'it did not end',
      remedy: 'correct it',
      retry,
    })
    const { stdout, stderr, code } = await runInWorld(worldOf(TWO), ['render'], {
      renderer: withoutAnswer('slow', hangs),
    })
    assert.equal(code, 2)
    assert.match(stdout, /apps\/slow {2}does not render/)
    assert.match(stdout, /apps\/web {2}1 function/)
    assert.match(stderr, /^error BP1203: slow broke a limit\n/)
  }
})

test('an interrupted render is not reported as a failure of the current package', async () => {
  const stop = new AbortController()
  const failure = new Failure({
    code: 'BP1203',
    what: 'slow was killed',
    why: 'it was',
    remedy: 'none',
    retry: 'backoff',
  })
  const renderer = withoutAnswer('slow', failure)
  const fetch = renderer.fetch.bind(renderer)
  const interrupted: PackageRenderer = {
    ...renderer,
    fetch: (call, signal) => {
      stop.abort(new Error('interrupted'))
      return fetch(call, signal)
    },
  }
  const request = {
    branch: undefined,
    packages: [],
    folders: [],
    applied: false,
    cluster: undefined,
    renderer: interrupted,
  }
  await assert.rejects(
    renderPackages(worldOf(TWO).repository, request, stop.signal),
    /^Error: interrupted$/,
  )
})

test('a note says that uncommitted changes are not rendered, unless --quiet', async () => {
  const world = worldOf({
    'apps/web/Kptfile': KPTFILE,
    'apps/web/config.yaml': config('  namespace: shop\n'),
  })
  const { stderr } = await runInWorld(world, ['render'], { workTree: 'dirty' })
  assert.equal(
    stderr,
    'note: the work tree has changes that are not committed; commits are rendered, not the work tree\n',
  )
  assert.equal((await runInWorld(world, ['render', '-q'], { workTree: 'dirty' })).stderr, '')
  assert.equal((await runInWorld(world, ['render'], { workTree: 'clean' })).stderr, '')
})

test('help offers only flags that apply to render', async () => {
  const { stdout } = await runInWorld(new TurnWorld(), ['render', '--help'])
  assert.match(stdout, /--allow-exec/)
  assert.doesNotMatch(stdout, /--columns|--no-headers|--context/)
})

test('notes when a policy renders the package with another tool than kpt', async () => {
  const files = {
    'apps/web/Kptfile': KPTFILE,
    'apps/web/config.yaml': config('  namespace: shop\n'),
  }
  const reported = async (render: string): Promise<string> => {
    const policy = {
      '.drift/render.yaml': policyText(`{match: {clusters: [prod]}, render: ${render}}`).replace(
        'name: test',
        'name: render',
      ),
    }
    return (await runInWorld(worldOf({ ...files, ...policy }), ['render', 'apps/web'])).stdout
  }
  assert.match(
    await reported('{tool: kustomize, path: overlays/prod}'),
    /would change\n {3}a policy renders it with kustomize overlays\/prod; these are the changes that kpt would make\n/,
  )
  assert.match(
    await reported('{tool: command, command: [jsonnet, main.jsonnet]}'),
    /a policy renders it with the command "jsonnet main\.jsonnet";/,
  )
  assert.match(await reported('{tool: files}'), /a policy renders it from its files as they are;/)
  assert.doesNotMatch(await reported('{tool: kpt}'), /a policy/)
})

const SETTER = { 'apps/web/Kptfile': KPTFILE, 'apps/web/config.yaml': config('') }

test('-o unwrap prints only the rendered objects, for kubectl apply, and exits 0', async () => {
  const secret =
    'apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\nstringData:\n  password: hunter2\n'
  const local =
    'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: setters\n  annotations:\n    config.kubernetes.io/local-config: "true"\n'
  const world = worldOf({
    ...SETTER,
    'apps/web/secret.yaml': secret,
    'apps/web/setters.yaml': local,
  })
  const { stdout, stderr, code } = await runInWorld(world, ['render', 'apps/web', '-o', 'unwrap'])
  assert.equal(code, 0, stderr)
  // The Secret is the user's own file, and asked for as kpt prints it.
  assert.match(
    stdout,
    /^---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n {2}name: web\n {2}namespace: shop\n/m,
  )
  assert.match(stdout, /password: hunter2/)
  assert.doesNotMatch(stdout, /Kptfile|setters|internal\.config/)
})

test("-o resourcelist or stdout prints one ResourceList with the Kptfile and each resource's place", async () => {
  for (const name of ['resourcelist', 'stdout']) {
    const { stdout, code } = await runInWorld(worldOf(SETTER), ['render', 'apps/web', '-o', name])
    assert.equal(code, 0)
    assert.match(stdout, /^apiVersion: config\.kubernetes\.io\/v1\nkind: ResourceList\nitems:\n- /)
    assert.match(stdout, /^- apiVersion: kpt\.dev\/v1\n {2}kind: Kptfile\n/m)
    assert.match(stdout, /internal\.config\.kubernetes\.io\/path: 'config\.yaml'/)
  }
  const many = await runInWorld(worldOf({ ...SETTER, 'apps/b/Kptfile': KPTFILE }), [
    'render',
    '-o',
    'resourcelist',
  ])
  assert.equal(many.code, 2)
  assert.match(many.stderr, /BP1001: 2 packages do not fit into one ResourceList/)
})

test('-o FOLDER writes the files of one package, and of several each below its path', async () => {
  const written = new Map<string, ReadonlyMap<string, string>>()
  const writeNewFolder = (path: string, files: ReadonlyMap<string, string>): void =>
    void written.set(path, files)
  const world = worldOf({ ...SETTER, 'apps/b/Kptfile': KPTFILE.replace('name: web', 'name: b') })
  assert.equal(
    (await runInWorld(world, ['render', 'apps/web', '-o', 'out'], { writeNewFolder })).code,
    0,
  )
  assert.deepEqual(
    [...(written.get('out')?.keys() ?? [])],
    ['Kptfile', 'config.yaml', 'deployment.yaml'],
  )
  assert.match(written.get('out')?.get('config.yaml') ?? '', /namespace: shop/)
  await runInWorld(world, ['render', '-o', 'all'], { writeNewFolder })
  assert.ok(
    written.get('all')?.has('apps/web/config.yaml') && written.get('all')?.has('apps/b/Kptfile'),
  )
})

test('prints and writes nothing if a package does not render or is no kpt package', async () => {
  const broken = await runInWorld(worldOf({ ...SETTER, 'apps/b/Kptfile': 'kind: Kptfile\n' }), [
    'render',
    '-o',
    'unwrap',
  ])
  assert.deepEqual([broken.code, broken.stdout], [2, ''])
  const folder = worldOf({ ...SETTER, '.drift/policy.yaml': policyText('{render: {tool: files}}') })
  const list = await runInWorld(folder, ['render', 'apps/web', '-o', 'resourcelist'])
  assert.deepEqual([list.code, list.stdout], [2, ''])
  assert.match(
    list.stderr,
    /apps\/web has no rendered files\n {2}why: it is rendered from its files as they are/,
  )
})

test('-o unwrap renders as the policy says, and requires a cluster when clusters differ', async () => {
  const files = { ...SETTER, '.drift/policy.yaml': policyText('{render: {tool: files}}') }
  const one = await runInWorld(worldOf(files), ['render', 'apps/web', '-o', 'unwrap'])
  assert.equal(one.code, 0, one.stderr)
  assert.doesNotMatch(one.stdout, /name: web\n {2}namespace: shop\ndata/)
  const forProd = {
    ...files,
    '.drift/policy.yaml': policyText('{match: {clusters: [prod]}, render: {tool: files}}'),
  }
  const two = {
    ...forProd,
    '.drift/test.yaml': policyText('{match: {clusters: [test]}, render: {tool: kpt}}').replace(
      'name: test',
      'name: other',
    ),
  }
  // A policy for one cluster leaves the others to kpt.
  for (const several of [forProd, two]) {
    const many = await runInWorld(worldOf(several), ['render', 'apps/web', '-o', 'unwrap'])
    assert.deepEqual([many.code, many.stdout], [2, ''])
    assert.match(
      many.stderr,
      /apps\/web is rendered in several ways\n.*: (?:files, kpt|kpt, files)\n {2}fix: name the cluster with --cluster/,
    )
  }
  assert.match(
    (await runInWorld(worldOf(two), ['render', 'apps/web', '-o', 'unwrap', '--cluster', 'test']))
      .stdout,
    /namespace: shop\ndata/,
  )
})
