/**
 * Killed with SIGKILL at each side effect and run again, a turn leaves the same refs as when nobody disturbed it
 * (promise P5). The cluster is recorded and the clock stands still, so the object ids can be compared.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { configMap } from '../fakes/recorded-config-map.ts'
import { boundCommand } from '../processes/bound-command.ts'
import { PROGRAM } from '../program.ts'
import { quarterOf } from '../seeds/crash-points.ts'

const LATELY = new Date('2026-11-21T11:00:00Z')
const DIE_AT = new URL('./die-at.ts', import.meta.url).href

/** The commands of one episode; each is killed everywhere on its own, on top of the undisturbed ones before it. */
const STEPS: readonly {
  readonly name: string
  readonly args: readonly string[]
  readonly live: 'drifted' | 'agreed'
}[] = [
  { name: 'scan records', args: ['scan'], live: 'drifted' },
  { name: 'adopt proposes', args: ['adopt', 'apps/web', '-m', 'kept'], live: 'drifted' },
  {
    name: 'approve merges',
    args: ['approve', 'apps/web', '--yes', '--as', 'Ada'],
    live: 'drifted',
  },
  { name: 'scan verifies', args: ['scan'], live: 'agreed' },
]

describe('a turn that is killed at any side effect and repeated', () => {
  let folder = ''
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'backporch-crash-'))
    makeWorld(join(folder, 'state-0'))
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  STEPS.forEach((step, index) => {
    test(`${step.name}: leaves the refs of an undisturbed run`, async (t) => {
      const start = join(folder, `state-${index}`)
      const undisturbed = copyWorld(start, join(folder, `state-${index + 1}`))
      const log = join(folder, `effects-${index}`)
      const run = await backporch(undisturbed, step, { BACKPORCH_COUNT: log })
      assert.ok(ended(run), `exit ${run.code} ${run.signal}: ${run.stderr}`)
      const wanted = refsOf(undisturbed)
      const effects = readFileSync(log, 'utf8').trim().split('\n')
      assert.ok(effects.includes('receive-pack'), 'the turn pushes')
      t.diagnostic(`${effects.length} side effects`)
      // Who dies before an effect leaves what he leaves who dies after the one before it; what git is told is tried both ways.
      const cases = effects.flatMap((effect, position) =>
        (position === 0 || effect === 'receive-pack'
          ? (['before', 'after'] as const)
          : (['after'] as const)
        ).map((when) => ({
          at: position + 1,
          when,
          effect,
        })),
      )
      const check = async ({ at, when, effect }: (typeof cases)[number]): Promise<void> => {
        const where = `${when} ${at} (${effect})`
        const world = copyWorld(start, join(folder, `killed-${index}-${at}-${when}`))
        const killed = await backporch(world, step, { BACKPORCH_DIE_AT: `${at}:${when}` })
        assert.equal(killed.signal, 'SIGKILL', `killed ${where}: ${killed.stderr}`)
        const again = await backporch(world, step, {})
        // A decision that was made before the kill is not there to be made again; everything else ends as it would have.
        const decided =
          step.args[0] === 'approve' && again.code === 2 && /BP2004/.test(again.stderr)
        assert.ok(ended(again) || decided, `after ${where}: ${again.stderr}`)
        assert.equal(refsOf(world), wanted, `after ${where}`)
        execFileSync('git', ['fsck', '--strict', '--no-dangling'], {
          cwd: join(world, 'packages.git'),
          stdio: 'pipe',
        })
        rmSync(world, { recursive: true, force: true })
      }
      const chosen = quarterOf(t, cases).values()
      const worker = async (): Promise<void> => {
        for (const next of chosen) await check(next)
      }
      await Promise.all([worker(), worker()])
    })
  })
})

/** Exit 0, 1 or 3: the recording holds no dry runs, so the drift that ownership shows counts as not all that may be there. */
function ended({ code }: Ended): boolean {
  return code === 0 || code === 1 || code === 3
}

interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stderr: string
}

function backporch(
  world: string,
  { args, live }: (typeof STEPS)[number],
  env: Readonly<Record<string, string>>,
): Promise<Ended> {
  const child = spawn(
    ...boundCommand(process.execPath, [
      // So short a process need not collect garbage: a tenth of its CPU.
      '--min-semi-space-size=16',
      '--import',
      DIE_AT,
      PROGRAM,
      ...args,
      '--repo',
      join(world, 'packages.git'),
      '--live',
      join(world, `${live}.json`),
      '--cluster',
      'prod',
      '--quiet',
    ]),
    {
      cwd: world,
      stdio: ['ignore', 'ignore', 'pipe'],
      env: {
        PATH: process.env['PATH'],
        HOME: join(world, 'home'),
        XDG_CACHE_HOME: join(world, 'home', 'cache'),
        GIT_CONFIG_NOSYSTEM: '1',
        BACKPORCH_KEY: 'c0de'.repeat(16),
        NODE_COMPILE_CACHE: join(tmpdir(), 'backporch-test-compile-cache'),
        ...env,
      },
    },
  )
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString('utf8')
  })
  return new Promise((resolve) =>
    child.on('close', (code, signal) => resolve({ code, signal, stderr })),
  )
}

function refsOf(world: string): string {
  return execFileSync('git', ['for-each-ref', '--format=%(objectname) %(refname)'], {
    cwd: join(world, 'packages.git'),
    encoding: 'utf8',
  })
}

function copyWorld(from: string, to: string): string {
  rmSync(to, { recursive: true, force: true })
  cpSync(from, to, { recursive: true })
  return to
}

function makeWorld(folder: string): void {
  mkdirSync(join(folder, 'home'), { recursive: true })
  const repository = join(folder, 'packages.git')
  const checkout = join(folder, 'checkout')
  const env = {
    PATH: process.env['PATH'],
    HOME: join(folder, 'home'),
    GIT_AUTHOR_DATE: '2026-11-20T12:00:00Z',
    GIT_COMMITTER_DATE: '2026-11-20T12:00:00Z',
    GIT_AUTHOR_NAME: 'Ada',
    GIT_AUTHOR_EMAIL: 'ada@example.com',
    GIT_COMMITTER_NAME: 'Ada',
    GIT_COMMITTER_EMAIL: 'ada@example.com',
  }
  const git = (...args: string[]): void => {
    execFileSync('git', args, { cwd: checkout, env, stdio: 'pipe' })
  }
  mkdirSync(join(checkout, 'apps', 'web'), { recursive: true })
  git('init', '--quiet', '--initial-branch=main')
  writeFileSync(
    join(checkout, 'apps/web/Kptfile'),
    'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: web\n',
  )
  writeFileSync(
    join(checkout, 'apps/web/settings.yaml'),
    'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\n  namespace: shop\ndata:\n  color: blue # brand\n',
  )
  git('add', '--all')
  git('commit', '--quiet', '--message', 'web')
  execFileSync('git', ['clone', '--quiet', '--bare', checkout, repository], { env, stdio: 'pipe' })
  writeFileSync(
    join(folder, 'drifted.json'),
    JSON.stringify(configMap({ color: 'red', by: 'kubectl-edit', at: LATELY })),
  )
  writeFileSync(
    join(folder, 'agreed.json'),
    JSON.stringify(configMap({ color: 'red', by: 'ci', at: LATELY })),
  )
}
