/** The machine of somebody who follows a guide: a clone, a cluster that the kubeconfig calls `prod`, and the programs that the guide names. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { splitWords } from '@backporch/kpt/runtime'
import type { ControlPlane } from '../controlplane/control-plane.ts'
import { runProgram } from '../e2e/run-program.ts'
import { type Files, openWorld, type World } from '../e2e/world.ts'
import { commandsOf, isShown, withOutputs } from './guide-commands.ts'

const ROOT = new URL('../../', import.meta.url)
/** Writes what the commands print into the guide. */
const WRITES = process.env['BACKPORCH_WRITE_GUIDES'] === '1'
const PROGRAMS = ['git', 'kubectl', 'kpt', 'helm']

export interface GuideWorld {
  readonly world: World
  /** Of the context `prod`. */
  readonly kubeconfig: string
}

export async function openGuideWorld(
  t: TestContext,
  plane: ControlPlane,
  files: Files,
): Promise<GuideWorld> {
  const world = await openWorld(t, plane, files)
  const config = JSON.parse(readFileSync(plane.kubeconfig, 'utf8'))
  const kubeconfig = join(world.folder, 'kubeconfig')
  const contexts = config.contexts.map((each: object) => ({ ...each, name: 'prod' }))
  writeFileSync(kubeconfig, JSON.stringify({ ...config, contexts, 'current-context': 'prod' }), {
    mode: 0o600,
  })
  return { world, kubeconfig }
}

interface Following {
  /** Directory with `helm`, for a guide that runs it. */
  readonly path?: string
  /** What others do after a command, by the command: the syncer applies. */
  readonly after?: { readonly [command: string]: () => Promise<void> }
}

/**
 * Runs every command of the guide in its order, and compares what each prints with what the guide shows.
 * @param guide its path from the root of the repository
 */
export async function follow(
  guide: string,
  { world, kubeconfig }: GuideWorld,
  { path, after = {} }: Following = {},
): Promise<void> {
  const file = new URL(guide, ROOT)
  const text = readFileSync(file, 'utf8')
  const env = {
    KUBECONFIG: kubeconfig,
    ...(path === undefined ? {} : { PATH: `${path}:${process.env['PATH']}` }),
  }
  const outputs = new Map<number, string>()
  const done = new Set<string>()
  for (const { command, shown, line } of commandsOf(text)) {
    const where = `${guide}:${line}: $ ${command}`
    done.add(command)
    const { code, output } = await run(command, world, env)
    assert.ok(code !== undefined && code < 2, `${where} ended with ${code}\n${output}`)
    outputs.set(line, output)
    if (!WRITES && shown.length > 0) assert.ok(isShown(output, shown), `${where} prints\n${output}`)
    await after[command]?.()
  }
  assert.deepEqual(
    Object.keys(after).filter((command) => !done.has(command)),
    [],
    'the guide has each command at which others act',
  )
  if (WRITES) writeFileSync(file, withOutputs(text, outputs))
}

async function run(
  command: string,
  world: World,
  env: NodeJS.ProcessEnv,
): Promise<{ readonly code: number | undefined; readonly output: string }> {
  const [program = '', ...words] = splitWords(command) ?? []
  if (program === 'backporch') {
    const { code, stdout, stderr } = await world.backporchIn(world.checkout, env, ...words)
    return { code, output: `${stdout}${stderr}` }
  }
  if (!PROGRAMS.includes(program)) throw new Error(`no test runs ${program}`)
  const home = join(world.folder, 'home')
  const own = {
    PATH: process.env['PATH'],
    HOME: home,
    XDG_CONFIG_HOME: join(home, 'config'),
    GIT_CONFIG_NOSYSTEM: '1',
    TZ: 'UTC',
    ...env,
  }
  const { code, stdout, stderr } = await runProgram(program, words, {
    cwd: world.checkout,
    env: own,
  })
  return { code: code ?? undefined, output: `${stdout}${stderr}` }
}
