/** The function of docs/guides/own-functions.md, as the guide has it: kpt runs it as a program, Backporch in its process, from the published files. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { setVariable } from '../fakes/set-variable.ts'
import { runKpt, whyNoKpt, withFolder } from '../kpt/find-kpt.ts'
import { TEST_PROGRAM } from '../program.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
let restore = (): void => undefined
before(() => {
  // The guide says `node`, and the one on the PATH may be older.
  restore = setVariable('PATH', `${dirname(process.execPath)}${delimiter}${process.env['PATH']}`)
})
after(() => restore())

const GUIDE = readFileSync(join(ROOT, 'docs/guides/own-functions.md'), 'utf8')
const TEAM = /`functions\/team\.mts`:\n\n```ts\n([\s\S]*?)```/.exec(GUIDE)?.[1] ?? ''
const STEPS = [...GUIDE.matchAll(/^ {4}- exec: .*\n {6}configMap: .*\n/gm)].map(([step]) => step)

const kptfile = (steps: readonly string[]): string =>
  `apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: web\npipeline:\n  mutators:\n${steps.join('')}`
const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web # the name
spec:
  replicas: 0x3
  template:
    metadata: {labels: {app: "web"}}
    spec:
      containers:
        - name: app
          image: 'nginx:1'
`
const PACKAGE = {
  'functions/team.mts': TEAM,
  'apps/web/web.yaml': DEPLOYMENT,
  'apps/web/twin.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {date: 2024-01-01}\n',
}

interface Ended {
  readonly code: number | null
  readonly stderr: string
}

/** A clone with backporch in its node_modules, as `npm install` leaves it. */
function inClone(
  steps: readonly string[],
  use: (folder: string, backporch: (...words: readonly string[]) => Ended) => void,
): void {
  withFolder(
    { ...PACKAGE, 'apps/web/Kptfile': kptfile(steps), '.gitignore': 'node_modules\n' },
    (folder) => {
      const installed = join(folder, 'node_modules', 'backporch')
      mkdirSync(installed, { recursive: true })
      copyFileSync(join(ROOT, 'package.json'), join(installed, 'package.json'))
      const program = process.env[TEST_PROGRAM]
      if (program === undefined)
        execFileSync(process.execPath, [join(ROOT, '.ci', 'bundle.ts'), join(installed, 'dist')])
      else cpSync(dirname(program), join(installed, 'dist'), { recursive: true })
      const git = (...words: readonly string[]) =>
        execFileSync(
          'git',
          ['-C', folder, '-c', 'user.name=x', '-c', 'user.email=x@example.com', ...words],
          { stdio: 'pipe' },
        )
      git('init', '--initial-branch', 'main')
      git('add', '.')
      git('commit', '-m', 'one')
      use(folder, (...words) => {
        const args = [join(installed, 'dist', 'backporch.mjs'), ...words]
        const { status, stderr } = spawnSync(process.execPath, args, {
          cwd: folder,
          encoding: 'utf8',
        })
        return { code: status, stderr }
      })
    },
  )
}

function filesOf(folder: string): { readonly [path: string]: string } {
  return Object.fromEntries(
    readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
  )
}

test('kpt and Backporch write the same files with the functions of the guide', {
  skip: whyNoKpt(),
}, () => {
  assert.equal(
    STEPS.length,
    2,
    'the guide names the function of its own, and the one that comes with Backporch',
  )
  inClone(STEPS, (folder, backporch) => {
    const modules = ['functions/team.mts', 'node_modules/backporch/dist/set-default-requests.mjs']
    const allowed = modules.map((path) => `--allow-module=${join(folder, path)}`)
    const rendered = backporch('render', 'apps/web', '-o', 'out', ...allowed)
    assert.equal(rendered.code, 0, rendered.stderr)
    const { ok, stderr } = runKpt(folder, 'fn', 'render', 'apps/web', '--allow-exec')
    assert.ok(ok, stderr)
    const byKpt = filesOf(join(folder, 'apps/web'))
    assert.deepEqual(filesOf(join(folder, 'out')), byKpt)
    assert.match(
      byKpt['web.yaml'] ?? '',
      /name: web # the name\n {2}labels:\n {4}team: shop\n[\s\S]*replicas: 0x3\n[\s\S]*cpu: 100m/,
    )
    assert.match(byKpt['twin.yaml'] ?? '', /team: shop[\s\S]*date: 2024-01-01/)
  })
})

test('kpt and Backporch both stop when the function fails, and Backporch when it is not allowed', {
  skip: whyNoKpt(),
}, () => {
  inClone(['    - exec: node functions/team.mts\n'], (folder, backporch) => {
    const refused = backporch('render', 'apps/web', '-o', 'out')
    assert.deepEqual([refused.code, /^error (BP\d+)/m.exec(refused.stderr)?.[1]], [2, 'BP1206'])
    assert.match(refused.stderr, /--allow-module=\/…\/team\.mts/)
    const failed = backporch(
      'render',
      'apps/web',
      '-o',
      'out',
      `--allow-module=${join(folder, 'functions/team.mts')}`,
    )
    assert.deepEqual([failed.code, /^error (BP\d+)/m.exec(failed.stderr)?.[1]], [2, 'BP1202'])
    const run = runKpt(folder, 'fn', 'render', 'apps/web', '--allow-exec')
    assert.ok(!run.ok)
    for (const text of [failed.stderr, run.stdout + run.stderr])
      assert.match(text, /the config has no team/)
    assert.deepEqual(filesOf(join(folder, 'apps/web'))['web.yaml'], DEPLOYMENT)
  })
})
