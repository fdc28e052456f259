/** The GitHub Action as a runner starts it, for tests: a folder with the bundle, a recording and the packages; steps over them. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before } from 'node:test'
import { fileURLToPath } from 'node:url'
import { runAction } from '../../src/cli/action/run-action.ts'
import { runCli } from '../../src/cli/run-cli.ts'
import { gitTestEnvironment } from '../contract/git-remotes.ts'
import { runHere } from '../e2e/run-here.ts'
import { type ProgramRun, runProgram } from '../e2e/run-program.ts'
import { makePackages, writeRecording } from './stage.ts'

export const PROPOSING =
  'apiVersion: backporch.dev/v1alpha1\nkind: DriftPolicy\nmetadata: {name: default}\nspec: {mode: Propose, detect: {minAge: 0s, settle: 0s}}\n'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** Everything that the steps of this process read and write. */
export const folder = mkdtempSync(join(tmpdir(), 'backporch-action-'))
export const environment = gitTestEnvironment(folder)
export const OUTPUT = 'GITHUB_OUTPUT'

interface Step extends ProgramRun {
  readonly outputs: Readonly<Record<string, string>>
  readonly summary: string
}

export type Texts = Readonly<Record<string, string>>
/** How a step is run: with the variables of its environment. */
type Start = (env: NodeJS.ProcessEnv) => Promise<ProgramRun>

export const bundled: Start = (env) =>
  runProgram(process.execPath, [join(folder, 'dist', 'action.mjs')], { cwd: folder, env })

export const inProcess: Start = (env) =>
  runHere('the action', { cwd: folder, env }, (world) => runAction(world, runCli))

let steps = 0
let repositories = 0

/** A repository of its own, as `like` is: by default the packages alone. */
export function repositoryLike(like = join(folder, 'packages')): string {
  repositories += 1
  const path = join(folder, `repository-${repositories}`)
  cpSync(like, path, { recursive: true })
  return path
}

/** Runs the step. `env` may take away what the runner sets. */
export async function step(
  repository: string,
  inputs: Texts,
  env: Texts = {},
  start = inProcess,
): Promise<Step> {
  steps += 1
  const own = join(folder, `step-${steps}`)
  const home = join(folder, 'home')
  for (const path of [own, home]) mkdirSync(path, { recursive: true })
  const files = { [OUTPUT]: join(own, 'output'), GITHUB_STEP_SUMMARY: join(own, 'summary') }
  for (const path of Object.values(files)) writeFileSync(path, '')
  const given = Object.entries({ repo: repository, live: 'live', clusters: 'prod', ...inputs })
  const run = await start({
    PATH: process.env['PATH'],
    HOME: home,
    RUNNER_TEMP: own,
    BACKPORCH_KEY: 'k'.repeat(32),
    ...files,
    ...Object.fromEntries(given.map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value])),
    ...env,
  })
  const read = (path: string): string => (existsSync(path) ? readFileSync(path, 'utf8') : '')
  return {
    ...run,
    outputs: outputsIn(read(files[OUTPUT])),
    summary: read(files.GITHUB_STEP_SUMMARY),
  }
}

/** As the runner reads the file (actions/runner, FileCommandManager.cs). */
function outputsIn(text: string): Record<string, string> {
  const found: Record<string, string> = {}
  const lines = text.split('\n')
  for (let at = 0; at < lines.length && lines[at] !== ''; ) {
    const [, name = '', delimiter = ''] = /^([^<=]+)<<(.+)$/.exec(lines[at] ?? '') ?? []
    assert.ok(name !== '', `a line of the outputs is none: ${lines[at]}`)
    const end = lines.indexOf(delimiter, at + 1)
    found[name] = lines.slice(at + 1, end).join('\n')
    at = end + 1
  }
  return found
}

/** Commands that the runner would obey: none between stop-commands and its end, and `##[` anywhere else. */
export function obeyed(output: string): string[] {
  let stopped = ''
  return output.split('\n').filter((line) => {
    if (stopped !== '') {
      if (line === `::${stopped}::`) stopped = ''
      return false
    }
    stopped = /^::stop-commands::(.+)$/.exec(line.trim())?.[1] ?? ''
    return stopped === '' && (line.trim().startsWith('::') || line.includes('##['))
  })
}

export function level(name: string, { stdout }: ProgramRun): string[] {
  return obeyed(stdout).filter((line) => line.startsWith(`::${name} `))
}

/** Fills the folder before the tests of a file, and removes it after them. */
export function prepareSteps(): void {
  before(() => {
    execFileSync(process.execPath, [join(ROOT, '.ci', 'bundle.ts'), join(folder, 'dist')])
    writeRecording(join(folder, 'live'))
    makePackages(join(folder, 'packages'), environment)
  })
  after(() => rmSync(folder, { recursive: true, force: true }))
}
