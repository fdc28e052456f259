import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, relative } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const NODE_FOLDER = dirname(process.execPath)
const { version, engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  version: string
  engines: { node: string }
}
/** The oldest Node that package.json allows, from the lock file. */
const MINIMUM_NODE = join(ROOT, '.ci/node-minimum/node_modules/.bin/node')
const noMinimumNode = existsSync(MINIMUM_NODE)
  ? false
  : `the lock file has no Node ${engines.node} for this system`

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** What people get: the tarball, installed in an empty folder without any registry. */
describe('the packed backporch', () => {
  let folder = ''
  let installed = ''

  before(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'packed-')))
    const checkout = join(folder, 'checkout')
    mkdirSync(join(checkout, 'src'), { recursive: true })
    for (const file of ['package.json', 'LICENSE', 'src/launch.cjs'])
      copyFileSync(join(ROOT, file), join(checkout, file))
    writeFileSync(join(checkout, 'README.md'), '# backporch\n')
    execFileSync(process.execPath, [join(ROOT, '.ci', 'bundle.ts'), join(checkout, 'dist')])
    npm(checkout, 'pack', '--ignore-scripts', '--pack-destination', folder)
    installed = join(folder, 'empty')
    mkdirSync(installed)
    writeFileSync(join(installed, 'package.json'), '{}')
    npm(
      installed,
      'install',
      '--offline',
      '--no-audit',
      '--no-fund',
      join(folder, `backporch-${version}.tgz`),
    )
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  /** Runs the installed command as `npx backporch` does. */
  const backporch = (
    args: readonly string[],
    node = process.execPath,
    flags: readonly string[] = [],
  ): Ended => {
    const program = join(installed, 'node_modules', 'backporch', 'src', 'launch.cjs')
    const { status, stdout, stderr } = spawnSync(node, [...flags, program, ...args], {
      cwd: installed,
      env: { PATH: process.env['PATH'], HOME: folder, TMPDIR: folder },
      encoding: 'utf8',
    })
    return { code: status, stdout, stderr }
  }

  test('contains only what it needs, and needs nothing else installed', () => {
    const packageFolder = join(installed, 'node_modules', 'backporch')
    const files = readdirSync(packageFolder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) =>
        relative(packageFolder, join(entry.parentPath, entry.name)).replaceAll('\\', '/'),
      )
    const chunk = /^dist\/[\w-]+-[0-9A-Z]{8}\.mjs$/
    assert.deepEqual(files.filter((file) => !chunk.test(file)).sort(), [
      'LICENSE',
      'README.md',
      'dist/action.mjs',
      'dist/backporch.mjs',
      'dist/functions.d.mts',
      'dist/functions.mjs',
      'dist/licenses.txt',
      'dist/render-worker.mjs',
      'dist/set-default-requests.mjs',
      'package.json',
      'src/launch.cjs',
    ])
    const entries = [
      'backporch',
      'action',
      'render-worker',
      'functions',
      'set-default-requests',
    ].map((name) => join(packageFolder, 'dist', `${name}.mjs`))
    const loaded = [...filesLoaded(entries, true)].map((path) => relative(packageFolder, path))
    assert.deepEqual(
      loaded.filter((file) => chunk.test(file)).sort(),
      files.filter((file) => chunk.test(file)).sort(),
    )
    const packages = readdirSync(join(installed, 'node_modules')).filter(
      (name) => !name.startsWith('.'),
    )
    assert.deepEqual(packages, ['backporch'])
  })

  test('loads no adapter, schema or YAML parser at the start', () => {
    const start = filesLoaded(
      [join(installed, 'node_modules', 'backporch', 'dist', 'backporch.mjs')],
      false,
    )
    const bytes = [...start].reduce((sum, path) => sum + statSync(path).size, 0)
    assert.ok(bytes < 160 * 1024, `the start reads ${bytes} bytes`)
  })

  test('loads for OpenID Connect neither the Kubernetes models nor undici', () => {
    const folder = join(installed, 'node_modules', 'backporch', 'dist')
    const part = readdirSync(folder).find((file) => file.startsWith('oidc-token-'))
    assert.ok(part !== undefined)
    const loaded = [...filesLoaded([join(folder, part)], false)]
    const bytes = loaded.reduce((sum, path) => sum + statSync(path).size, 0)
    assert.ok(bytes < 64 * 1024, `it reads ${bytes} bytes`)
  })

  test('installs a command', () => {
    const command = join(installed, 'node_modules', '.bin', 'backporch')
    const env = { PATH: `${NODE_FOLDER}${delimiter}${process.env['PATH']}`, HOME: folder }
    assert.equal(
      execFileSync(command, ['version'], { env, encoding: 'utf8' }),
      `backporch ${version} (Node ${process.versions.node})\n`,
    )
  })

  test('prints help and reports a wrong call', () => {
    const help = backporch(['diff', '--help'])
    assert.deepEqual([help.code, help.stderr], [0, ''])
    assert.match(help.stdout, /^Usage: backporch diff /)
    const refused = backporch(['diff'])
    assert.equal(refused.code, 2)
    assert.match(refused.stderr, /^error BP1\d\d\d: .*\n( {2}(where|why|fix): .*\n)+$/)
  })

  test('runs the demo', () => {
    const { code, stdout, stderr } = backporch(['demo', '--folder', 'demo'])
    assert.deepEqual([code, stderr], [0, ''], stdout)
    assert.match(
      stdout,
      /InSync[\s\S]*alias backporch='node .*node_modules\/backporch\/src\/launch\.cjs'/,
    )
  })

  test('runs the demo on the oldest Node that package.json allows', {
    skip: noMinimumNode,
  }, () => {
    const oldest = spawnSync(MINIMUM_NODE, ['--version'], { encoding: 'utf8' }).stdout.trim()
    assert.match(oldest, new RegExp(`^${engines.node.replace('>=', 'v')}\\.0$`))
    const { code, stdout, stderr } = backporch(['demo', '--folder', 'demo-on-oldest'], MINIMUM_NODE)
    assert.deepEqual([code, stderr], [0, ''], stdout)
    assert.match(stdout, /InSync/)
  })

  test('runs a custom function in TypeScript, on the oldest Node too', {
    skip: noMinimumNode,
  }, () => {
    const file = join(installed, 'team.mts')
    const text = `import { type Configs, runKptFunc } from 'backporch/functions'
async function setTeam(configs: Configs): Promise<void> {
  for (const object of configs.getAll()) if (object.kind === 'ConfigMap') object.metadata.labels = { team: 'shop' }
}
setTeam.usage = ''
await runKptFunc(setTeam)\n`
    writeFileSync(file, text)
    const kptfile =
      'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: web}\npipeline: {mutators: [{exec: node team.mts}]}\n'
    const repository = join(folder, 'own')
    commitPackage(repository, kptfile)
    for (const node of [process.execPath, MINIMUM_NODE]) {
      const requested = ['render', '--repo', repository, '-o', 'unwrap', `--allow-module=${file}`]
      const { code, stdout, stderr } = backporch(requested, node)
      assert.equal(code, 0, stderr)
      assert.match(stdout, /labels:\n {4}team: shop\n/)
    }
  })

  test('renders a package with a pipeline, in a worker thread and through an allowed program', () => {
    const repository = join(folder, 'repository')
    const image =
      'image: ghcr.io/kptdev/krm-functions-catalog/set-namespace:latest, configMap: {namespace: shop}'
    const kptfile = `apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: web}\npipeline: {mutators: [{${image}}, {exec: cat}]}\n`
    commitPackage(repository, kptfile)
    const live = join(folder, 'live.yaml')
    writeFileSync(live, CONFIG_MAP)
    const queried = ['diff', '--repo', repository, '--live', live]
    const refused = backporch(queried)
    assert.equal(refused.code, 2, refused.stdout)
    assert.match(
      refused.stderr,
      /^error BP1206: .*\n {2}where: apps\/web\/Kptfile:4 \(mutator 2, cat\)/m,
    )
    const allowed = backporch([...queried, '--allow-exec', 'cat'])
    assert.doesNotMatch(allowed.stderr, /error/)
    assert.match(
      allowed.stderr + allowed.stdout,
      /apps\/web\/Kptfile:4 \(mutator 1, set-namespace\): the tag latest of .* v0\.4\.6 runs/,
    )
  })

  test('reports that it has no API server to run', () => {
    const { code, stderr } = backporch(['demo', '--control-plane'])
    assert.equal(code, 2)
    assert.match(stderr, /^error BP1001: the packed backporch has no API server to run\n/)
    assert.doesNotMatch(stderr, /^\s+at /m)
  })

  test('names functions in stack traces', () => {
    const { stderr } = backporch(['diff', '--debug'])
    assert.match(stderr, /\bat (async )?(Object\.|new )?\w{4,} ?.*[\w-]+\.mjs/)
  })

  test('reports a too old Node in one line with exit code 2', () => {
    const pretend = join(folder, 'pretend.cjs')
    writeFileSync(
      pretend,
      "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.18.1' } })\n",
    )
    const question = [
      { run: backporch(['version'], process.execPath, ['--require', pretend]), node: '20.18.1' },
    ]
    const older = olderNode()
    if (older !== undefined)
      question.push({ run: backporch(['version'], older.path), node: older.version })
    for (const { run, node } of question) {
      assert.deepEqual(run, {
        code: 2,
        stdout: '',
        stderr: `error BP1001: backporch needs Node 22.19 or later, and this is Node ${node}\n`,
      })
    }
  })
})

const CONFIG_MAP =
  'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\n  namespace: shop\ndata: {color: blue}\n'

/** A repository with the package apps/web. */
function commitPackage(repository: string, kptfile: string): void {
  mkdirSync(join(repository, 'apps/web'), { recursive: true })
  writeFileSync(join(repository, 'apps/web/Kptfile'), kptfile)
  writeFileSync(join(repository, 'apps/web/web.yaml'), CONFIG_MAP)
  const git = (...words: readonly string[]) =>
    execFileSync(
      'git',
      ['-C', repository, '-c', 'user.name=x', '-c', 'user.email=x@example.com', ...words],
      { stdio: 'pipe' },
    )
  git('init', '--initial-branch', 'main')
  git('add', '.')
  git('commit', '-m', 'one')
}

/** The files with all that they import; those that are imported later only with `later`. */
function filesLoaded(entries: readonly string[], later: boolean): Set<string> {
  const loaded = new Set(entries)
  const imports = later
    ? /(?:\bfrom|\bimport\(?)"(\.\/[\w-]+\.mjs)"/g
    : /(?:\bfrom|\bimport)"(\.\/[\w-]+\.mjs)"/g
  for (const path of loaded) {
    for (const [, next = ''] of readFileSync(path, 'utf8').matchAll(imports))
      loaded.add(join(dirname(path), next))
  }
  return loaded
}

function npm(cwd: string, ...args: readonly string[]): void {
  execFileSync('npm', args, { cwd, stdio: 'pipe' })
}

/** A Node of the machine that is older than what backporch needs, where there is one. */
function olderNode(): { readonly path: string; readonly version: string } | undefined {
  for (const path of (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((entry) => join(entry, 'node'))) {
    if (!existsSync(path)) continue
    const found = spawnSync(path, ['-p', 'process.versions.node'], {
      encoding: 'utf8',
    }).stdout.trim()
    const [major = 0, minor = 0] = found.split('.').map(Number)
    if (found !== '' && (major < 22 || (major === 22 && minor < 19)))
      return { path, version: found }
  }
  return undefined
}
